"""What a program does with the package of the wheel. SPDX-License-Identifier: MIT"""
import moontile as mt

T = mt.tensor("f32", mt.Layout((2, 3)))
mt.run("T:fill(7)", T=T)
print(mt.Layout("(4,8):(8,1)") / (2, 4), T[1, 2], mt.__file__)
