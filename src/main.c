/*
** main.c - the moontile program: lua's own command line, moontile inside, and a console.
** SPDX-License-Identifier: MIT
*/
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "console/interrupt.h"
#include "console/progress.h"
#include "console/terminal.h"
#include "moontile.h"
#include "moontile/lua.h"

#ifndef MOONTILE_BUILD
#define MOONTILE_BUILD "unknown"
#endif

#ifdef NDEBUG
#define ASSERTIONS ""
#else
#define ASSERTIONS ", assertions"
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZERS ", sanitizers"
#else
#define SANITIZERS ""
#endif

static const char usage_text[] =
    "usage: %s [options] [script [args]]\n"
    "  -e stat     run the string 'stat'; names mean in it what they do in the console\n"
    "  -i          enter the console after running 'script'\n"
    "  -l mod      require library 'mod' into the global 'mod'\n"
    "  -l g=mod    require library 'mod' into the global 'g'\n"
    "  -v          show the version\n"
    "  -E          ignore environment variables and the console's init.lua\n"
    "  -W          turn warnings on\n"
    "  --          stop handling options\n"
    "  -           stop handling options and run stdin\n"
    "  --version   show the version of moontile\n"
    "  --export script -o folder\n"
    "              write the plans that 'script' returns as C\n"
    "  --info      show devices, kernels and what was compiled in\n"
    "  -h, --help  show this\n"
    "Without a script: the console, if stdin is a terminal; else stdin is the script.\n"
    "`require \"moontile\"` always finds the moontile that this program carries.\n";

static const char *progname = "moontile";

static void message (const char *text) {
  fprintf(stderr, "%s: %s\n", progname, text);
  fflush(stderr);
}

/* ---------------------------------------------------------------- protected calls */

static int call (lua_State *L, int nargs, int nresults) {
  return con_call(L, nargs, nresults, CON_KILLS);
}

/* Prints and pops the error of a failed call. */
static int report (lua_State *L, int status) {
  if (status != LUA_OK) {
    const char *text = lua_tostring(L, -1);
    message(text != NULL ? text : "(error message is not a string)");
    lua_pop(L, 1);
  }
  return status;
}

static int run_chunk (lua_State *L, int loaded) {
  return report(L, loaded == LUA_OK ? call(L, 0, 0) : loaded);
}

static int run_string (lua_State *L, const char *code, const char *name) {
  return run_chunk(L, luaL_loadbuffer(L, code, strlen(code), name));
}

/* (environment, name) -> a global, or what the name means in the console, which is not
** opened before a name is asked for that is no global. */
static int l_name (lua_State *L) {
  static const char names[] =
      "require 'moontile' return require('moontile.console').environment()[...]";
  lua_pushglobaltable(L);
  lua_pushvalue(L, 2);
  if (lua_gettable(L, -2) != LUA_TNIL) return 1;
  if (luaL_loadbuffer(L, names, sizeof names - 1, "=console") != LUA_OK)
    return lua_error(L);
  lua_pushvalue(L, 2);
  lua_call(L, 1, 1);
  return 1;
}

/* Pushes the environment of -e. */
static void push_environment (lua_State *L) {
  if (luaL_getsubtable(L, LUA_REGISTRYINDEX, "moontile.environment")) return;
  lua_createtable(L, 0, 2);
  lua_pushcfunction(L, l_name);
  lua_setfield(L, -2, "__index");
  lua_pushglobaltable(L);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
}

static int run_argument (lua_State *L, const char *code) {
  int status = luaL_loadbuffer(L, code, strlen(code), "=(command line)");
  if (status == LUA_OK) {
    push_environment(L);
    lua_setupvalue(L, -2, 1);
  }
  return run_chunk(L, status);
}

static int run_file (lua_State *L, const char *name) {
  return run_chunk(L, luaL_loadfile(L, name));
}

/* -l mod, -l g=mod; what follows a hyphen in mod is no part of the global's name. */
static int run_library (lua_State *L, const char *spec) {
  const char *equals = strchr(spec, '='), *hyphen = strchr(spec, '-');
  const char *module = equals != NULL ? equals + 1 : spec;
  size_t length = strlen(spec);
  if (equals != NULL) length = (size_t)(equals - spec);
  else if (hyphen != NULL) length = (size_t)(hyphen - spec);
  lua_getglobal(L, "require");
  lua_pushstring(L, module);
  int status = call(L, 1, 1);
  if (status == LUA_OK) {
    lua_pushglobaltable(L);
    lua_pushlstring(L, spec, length);
    lua_pushvalue(L, -3);
    lua_settable(L, -3);
    lua_pop(L, 2);
  }
  return report(L, status);
}

/* ---------------------------------------------------------------- the command line */

typedef struct options {
  bool interactive, version, noenv, execute; /* -i; -v or -i; -E; -e */
  const char *own;                           /* --version, --info, --help */
  char **exported;                           /* NULL, or: --export script -o folder */
  int script;                                /* its index in argv; argc: none */
  const char *bad;                           /* the option that was not understood */
} options;

/* The index of the argument of -e or -l at argv[i], or 0: it has none. */
static int option_argument (char **argv, int i) {
  if (argv[i][2] != '\0') return i;
  return argv[i + 1] != NULL && argv[i + 1][0] != '-' ? i + 1 : 0;
}

static bool is_own (const char *s) {
  static const char *const names[] = {"--version", "--info", "--help", "-h",
                                      "--operations"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(s, names[i]) == 0) return true;
  return false;
}

/* --export script -o folder, and no more. */
static int read_export (options *o, char **argv, int i) {
  for (int k = 1; k <= 3; k++)
    if (argv[i + k] == NULL) return 0;
  if (strcmp(argv[i + 2], "-o") != 0 || argv[i + 4] != NULL) return 0;
  o->exported = argv + i;
  return i + 4;
}

/* Reads the option at argv[i]; the index of the next argument, or 0: it is a bad one. */
static int read_option (options *o, char **argv, int i) {
  const char *s = argv[i];
  if (is_own(s)) {
    o->own = s;
    return i + 1;
  }
  if (strcmp(s, "--export") == 0) return read_export(o, argv, i);
  if (s[1] == 'e' || s[1] == 'l') {
    if (s[1] == 'e') o->execute = true;
    int argument = option_argument(argv, i);
    return argument == 0 ? 0 : argument + 1;
  }
  if (s[2] != '\0' || strchr("EivW", s[1]) == NULL) return 0;
  if (s[1] == 'E') o->noenv = true;
  if (s[1] == 'i') o->interactive = true;
  if (s[1] == 'i' || s[1] == 'v') o->version = true;
  return i + 1;
}

static options read_options (int argc, char **argv) {
  options o = {.script = argc};
  for (int i = 1; i < argc;) {
    const char *s = argv[i];
    if (s[0] != '-' || s[1] == '\0') { /* a script, or - */
      o.script = i;
      break;
    }
    if (strcmp(s, "--") == 0) {
      o.script = i + 1;
      break;
    }
    int next = read_option(&o, argv, i);
    if (next == 0) {
      o.bad = s;
      break;
    }
    i = next;
  }
  return o;
}

static int usage (const char *bad) {
  if (strcmp(bad, "--export") == 0)
    fprintf(stderr, "%s: --export needs: --export script -o folder\n", progname);
  else if (bad[1] == 'e' || bad[1] == 'l')
    fprintf(stderr, "%s: '%s' needs argument\n", progname, bad);
  else fprintf(stderr, "%s: unrecognized option '%s'\n", progname, bad);
  fprintf(stderr, usage_text, progname);
  return EXIT_FAILURE;
}

/* The options -e, -l and -W, in their order. False after the first error. */
static bool run_options (lua_State *L, char **argv, int end) {
  for (int i = 1; i < end; i++) {
    int kind = argv[i][1], status = LUA_OK;
    if (kind == 'W') lua_warning(L, "@on", 0);
    if (kind != 'e' && kind != 'l') continue;
    const char *argument = argv[i] + 2;
    if (*argument == '\0') argument = argv[++i];
    status = kind == 'e' ? run_argument(L, argument) : run_library(L, argument);
    if (status != LUA_OK) return false;
  }
  return true;
}

/* arg: the script at 0, its arguments from 1, what came before it below 0. */
static void set_arg (lua_State *L, int argc, char **argv, int script) {
  int first = script < argc ? script : 0;
  lua_createtable(L, argc - first, first + 1);
  for (int i = 0; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - first);
  }
  lua_setglobal(L, "arg");
}

static int run_script (lua_State *L, char **argv, int script) {
  const char *name = argv[script];
  bool is_stdin = strcmp(name, "-") == 0 && strcmp(argv[script - 1], "--") != 0;
  int status = luaL_loadfile(L, is_stdin ? NULL : name);
  if (status == LUA_OK) {
    int n = 0;
    for (; argv[script + 1 + n] != NULL; n++) {
      luaL_checkstack(L, LUA_MINSTACK, "too many arguments to the script");
      lua_pushstring(L, argv[script + 1 + n]);
    }
    status = call(L, n, LUA_MULTRET);
  }
  return report(L, status);
}

/* The variable LUA_INIT, of this version of Lua first: code, or @ and a file's name. */
static int run_init (lua_State *L) {
  const char *name = "LUA_INIT_" LUA_VERSION_MAJOR "_" LUA_VERSION_MINOR;
  const char *init = getenv(name);
  if (init == NULL) init = getenv(name = "LUA_INIT");
  if (init == NULL) return LUA_OK;
  if (init[0] == '@') return run_file(L, init + 1);
  lua_pushfstring(L, "=%s", name);
  int status = run_string(L, init, lua_tostring(L, -1));
  lua_remove(L, -1);
  return status;
}

/* ---------------------------------------------------------------- our own options */

static void print_version (void) {
  printf("moontile %s (%s.%s)\n", mt_version(), LUA_VERSION, LUA_VERSION_RELEASE);
}

static int first_line (const mt_err *err) { return (int)strcspn(err->text, "\n"); }

static void print_device (const char *name) {
  mt_err err = MT_NOERR;
  mt_device *d;
  if (mt_device_open(&d, name, NULL, &err) == MT_OK) {
    printf("device:   %-8s %s\n", mt_device_name(d), mt_device_about(d));
    mt_device_close(d);
  } else {
    printf("device:   %-8s cannot be used: %.*s\n", name, first_line(&err), err.text);
  }
}

static void print_devices (void) {
  mt_err err = MT_NOERR;
  print_device("cpu");
  int n = mt_cuda_count(NULL, &err);
  if (n == 0) printf("device:   %-8s none: %.*s\n", "cuda", first_line(&err), err.text);
  for (int i = 0; i < n; i++) {
    char name[32];
    snprintf(name, sizeof name, "cuda:%d", i);
    print_device(name);
  }
}

static void print_kernels (const char *backend) {
  printf("kernels:  %-8s", backend);
  if (mt_kernel_name(backend, 0) == NULL) printf(" none");
  for (int i = 0; mt_kernel_name(backend, i) != NULL; i++)
    printf(" %s", mt_kernel_name(backend, i));
  printf("\n");
}

static void print_info (void) {
  print_version();
  print_devices();
  print_kernels("cpu");
  print_kernels("cuda");
  printf("compiled: %s%s%s\n", MOONTILE_BUILD, ASSERTIONS, SANITIZERS);
}

/* For completion and fuzzing: where, name, at most how many arguments, which. */
static void print_operations (void) {
  mt_lua_operation o;
  for (int i = 0; mt_lua_operation_at(&o, i); i++)
    printf("%s\t%s\t%d\t%s\n", o.where, o.name, o.most, o.takes);
}

static int run_own (const char *option) {
  if (strcmp(option, "--version") == 0) print_version();
  else if (strcmp(option, "--operations") == 0) print_operations();
  else if (strcmp(option, "--info") == 0) print_info();
  else printf(usage_text, progname);
  return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---------------------------------------------------------------- plans as C */

/* What the script returns: a plan, which has the script's name, or a table of plans. */
static int run_export (lua_State *L, char *const *argv) {
  static const char code[] =
      "local script, folder = ...\n"
      "local what = assert(loadfile(script))()\n"
      "local name = script:match('([^/]*)$'):gsub('%.lua$', ''):gsub('%W', '_')\n"
      "local options = type(what) == 'userdata' and { name = name } or nil\n"
      "local paths = assert(require('moontile').export(what, folder, options))\n"
      "print(table.concat(paths, '\\n'))";
  const char *folder = argv[3];
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    lua_pushfstring(L, "%s: %s", folder, strerror(errno));
    return report(L, LUA_ERRRUN);
  }
  int status = luaL_loadbuffer(L, code, sizeof code - 1, "=export");
  if (status != LUA_OK) return report(L, status);
  lua_pushstring(L, argv[1]);
  lua_pushstring(L, folder);
  return report(L, call(L, 2, 0));
}

/* ---------------------------------------------------------------- the program */

/* The console: a function that reads and runs one statement and returns false at the end.
** An interruption comes back here, wherever it struck, and the console goes on. */
static int console (lua_State *L, const options *o) {
  static const char open[] =
      "require 'moontile' return require('moontile.console').open(...)";
  int status = luaL_loadbuffer(L, open, sizeof open - 1, "=console");
  if (status == LUA_OK) {
    con_pushterminal(L, !o->noenv);
    status = con_call(L, 1, 1, CON_HARMLESS);
  }
  if (report(L, status) != LUA_OK) return status;
  for (bool more = true; more;) {
    lua_pushvalue(L, -1);
    status = con_call(L, 0, 1, CON_HARMLESS);
    if (status != LUA_OK && !run_interrupted()) return report(L, status);
    if (status != LUA_OK) fprintf(stderr, "interrupted!\n");
    else more = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return LUA_OK;
}

/* The console; without a terminal stdin is the script. */
static int without_script (lua_State *L, const options *o) {
  if (o->interactive) return console(L, o);
  if (o->execute || o->version) return LUA_OK;
  if (!isatty(STDIN_FILENO)) return run_file(L, NULL);
  printf("%s\n", LUA_COPYRIGHT);
  return console(L, o);
}

static int open_moontile (lua_State *L) {
  con_show_progress(L);
  return luaopen_moontile(L);
}

/* open_moontile waits in package.preload: `require` finds it first. */
static void open_libraries (lua_State *L) {
  luaL_openlibs(L);
  run_open_coroutines(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, open_moontile);
  lua_setfield(L, -2, "moontile");
  lua_pop(L, 1);
}

/* (argc, argv, options) -> whether all went well. */
static int main_protected (lua_State *L) {
  int argc = (int)lua_tointeger(L, 1);
  char **argv = lua_touserdata(L, 2);
  const options *o = lua_touserdata(L, 3);
  luaL_checkversion(L);
  if (o->version) {
    printf("%s\n", LUA_COPYRIGHT);
    fflush(stdout);
  }
  if (o->noenv) {
    lua_pushboolean(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
  }
  open_libraries(L);
  set_arg(L, argc, argv, o->script);
  if (!o->noenv && run_init(L) != LUA_OK) return 0;
  if (!run_options(L, argv, o->exported ? (int)(o->exported - argv) : o->script))
    return 0;
  if (o->exported) return lua_pushboolean(L, run_export(L, o->exported) == LUA_OK), 1;
  if (o->script < argc && run_script(L, argv, o->script) != LUA_OK) return 0;
  if (o->script >= argc || o->interactive) {
    if (without_script(L, o) != LUA_OK) return 0;
  }
  lua_pushboolean(L, 1);
  return 1;
}

int main (int argc, char **argv) {
  if (argc > 0 && argv[0][0] != '\0') progname = argv[0];
  options o = read_options(argc, argv);
  if (o.bad != NULL) return usage(o.bad);
  if (o.own != NULL) return run_own(o.own);
  lua_State *L = luaL_newstate();
  if (L == NULL) {
    message("cannot create state: not enough memory");
    return EXIT_FAILURE;
  }
  lua_pushcfunction(L, main_protected);
  lua_pushinteger(L, argc);
  lua_pushlightuserdata(L, argv);
  lua_pushlightuserdata(L, &o);
  int status = report(L, lua_pcall(L, 3, 1, 0));
  bool well = status == LUA_OK && lua_toboolean(L, -1);
  lua_close(L);
  return well ? EXIT_SUCCESS : EXIT_FAILURE;
}
