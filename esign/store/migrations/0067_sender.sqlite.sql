UPDATE document SET sender_id = json_extract(created_by, '$.id');
