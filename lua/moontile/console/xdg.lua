-- moontile.console.xdg - our folder among those of the user.
-- SPDX-License-Identifier: MIT

-- xdg(variable, below) -> the folder moontile in $variable, or in that below the home; nil: there
-- is no home.
return function(variable, below)
  local folder = os.getenv(variable)
  if folder and folder:sub(1, 1) == "/" then return folder .. "/moontile" end
  local home = os.getenv "HOME"
  return home and home ~= "" and home .. below .. "/moontile" or nil
end
