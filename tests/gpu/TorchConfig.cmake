# LibTorch by its libraries, as a Python package or an unpacked libtorch.zip has them: PARETO_TORCH
# is the folder with include and lib. LibTorch's own configuration asks for the CUDA toolkit and its
# compiler, which are not needed to link it.
set(Torch_FOUND FALSE)
if(NOT EXISTS ${PARETO_TORCH}/include/torch/script.h)
  return()
endif()
set(TORCH_INCLUDE_DIRS ${PARETO_TORCH}/include ${PARETO_TORCH}/include/torch/csrc/api/include)
set(TORCH_LIBRARIES)
# Nobody calls into the CUDA libraries: they register kernels when they are loaded.
foreach(name c10_cuda torch_cuda)
  if(EXISTS ${PARETO_TORCH}/lib/lib${name}.so)
    list(APPEND TORCH_LIBRARIES "-Wl,--push-state,--no-as-needed,${PARETO_TORCH}/lib/lib${name}.so,--pop-state")
  endif()
endforeach()
list(APPEND TORCH_LIBRARIES ${PARETO_TORCH}/lib/libtorch_cpu.so ${PARETO_TORCH}/lib/libc10.so)
set(Torch_FOUND TRUE)
