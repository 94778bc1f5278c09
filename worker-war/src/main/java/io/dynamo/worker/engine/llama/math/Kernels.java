package io.dynamo.worker.engine.llama.math;

/** Chooses the kernel that this JVM can run. */
public final class Kernels {
  private Kernels() {}

  /**
   * Returns the Vector API's kernel where the JVM was started with its module, plain loops
   * elsewhere.
   */
  public static Kernel best() {
    return hasVectors() ? new VectorKernel() : new PlainKernel();
  }

  /** Whether the JVM was started with {@code --add-modules jdk.incubator.vector}. */
  public static boolean hasVectors() {
    return ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();
  }
}
