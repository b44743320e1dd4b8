std = "lua54"
max_line_length = 100
files["spec"].std = "lua54+busted"
files["spec/**"].std = "lua54+busted"
files["spec/golden/**"].max_line_length = false
files["spec/golden/**"].ignore = { "2", "4" }
-- Annotations: nothing of it is run.
files["lua/moontile/meta/**"].ignore = { "1", "2", "614" }
-- Messages as they are printed.
files["spec/completion_spec.lua"].max_line_length = false
files["spec/console_spec.lua"].max_line_length = false
files["spec/error_spec.lua"].max_line_length = false
files["spec/explain_spec.lua"].max_line_length = false
files["spec/fragment_gemm_spec.lua"].max_line_length = false
files["spec/help_spec.lua"].max_line_length = false
files["spec/ragged_spec.lua"].max_line_length = false
-- Hosts set `tile`.
files["spec/host/script.lua"].read_globals = { "tile" }
