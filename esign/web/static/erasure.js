// While documents are being erased, the page shows how far it has come, unless somebody is using it.
setInterval(() => {
  const typed = document.getElementById("email").value;
  if (!document.hidden && !typed && [document.body, null].includes(document.activeElement)) location.replace(location.pathname);
}, 2000);
