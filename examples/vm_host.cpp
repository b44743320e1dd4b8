// vm_host.cpp - a host in C++: the VM and the core's devices as values that clean up.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "moontile.h"
#include "moontile/vm.h"

namespace {

struct closer {
  void operator()(mt_vm *v) const { mt_vm_close(v); }
};

class interpreter {
  std::unique_ptr<mt_vm, closer> vm_;

  static void check(mt_status s, const mt_err &err) {
    if (s != MT_OK) throw std::runtime_error(err.text);
  }

 public:
  interpreter() {
    mt_err err = MT_NOERR;
    mt_vm *v = nullptr;
    mt_vm_options o{};
    o.size = sizeof o;
    o.milliseconds = 500;
    check(mt_vm_open(&v, &o, &err), err);
    vm_.reset(v);
  }

  void run(const std::string &name, const std::string &text) {
    mt_err err = MT_NOERR;
    check(mt_vm_run(vm_.get(), name.c_str(), text.data(), text.size(), &err), err);
  }

  // Lends a matrix in row-major order under a global name.
  void lend(const char *name, std::vector<float> &data, std::int64_t rows) {
    mt_err err = MT_NOERR;
    mt_layout shape, layout;
    const std::int64_t extents[2] = {rows, static_cast<std::int64_t>(data.size()) / rows};
    check(mt_ints(&shape, 2, extents, &err), err);
    check(mt_layout_right(&layout, shape.node, &err), err);
    mt_tensor t{};
    t.layout = layout.node;
    t.dtype = MT_f32;
    t.data = data.data();
    t.bytes = data.size() * sizeof(float);
    mt_vm_value x{};
    x.kind = MT_VM_TENSOR;
    x.tensor = &t;
    check(mt_vm_set(vm_.get(), name, &x, &err), err);
  }

  double number(const char *function) {
    mt_err err = MT_NOERR;
    check(mt_vm_call(vm_.get(), function, nullptr, 0, &err), err);
    return mt_vm_result(vm_.get(), 0).number;
  }
};

}  // namespace

int main() try {
  std::vector<float> a(6), b(6);
  for (std::size_t i = 0; i < a.size(); i++) a[i] = static_cast<float>(i);
  interpreter vm;
  vm.lend("a", a, 2);
  vm.lend("b", b, 3);
  vm.run("transpose.lua",
         "tile.copy(a, b:select(2, 1))\n"
         "function corner() return b(2, 1) end\n");
  bool right = vm.number("corner") == 5 && b[1] == 3 && b[2] == 1;
  try {
    vm.run("wrong.lua", "local n = 1\nreturn n.size.x\n");
    right = false;
  } catch (const std::runtime_error &e) {
    std::puts(e.what());
  }
  std::puts(right ? "the host finds its matrix transposed" : "WRONG");
  return right ? 0 : 1;
} catch (const std::exception &e) {
  std::puts(e.what());
  return 1;
}
