"use strict";

// The rest of the page follows from the entity: choosing one opens it.
document.addEventListener("change", (event) => {
  if (event.target.matches("select[data-goes]") && event.target.value) event.target.form.submit();
});
