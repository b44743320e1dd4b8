std = "lua54"
max_line_length = 100
files["spec"].std = "lua54+busted"
files["spec/**"].std = "lua54+busted"
files["spec/golden/check.lua"].max_line_length = 130
