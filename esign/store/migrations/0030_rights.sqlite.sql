-- Keys of the web application have named their maker since its first version; those without one are of the command line.
UPDATE api_key SET maker_id = json_extract(created_by, '$.id')
    WHERE created_by IS NOT NULL AND json_extract(created_by, '$.kind') = 'member';
