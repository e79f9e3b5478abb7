"""python -m gloveport.kernel -f FILE: what a kernel specification starts. python -m gloveport.kernel install: writes one."""
import sys


def main() -> None:
    if sys.argv[1:2] == ["install"]:
        from .install import main as install
        sys.exit(install(sys.argv[1:]))
    from ipykernel.kernelapp import IPKernelApp

    from .kernel import GloveportKernel
    IPKernelApp.launch_instance(kernel_class=GloveportKernel)


if __name__ == "__main__":
    main()
