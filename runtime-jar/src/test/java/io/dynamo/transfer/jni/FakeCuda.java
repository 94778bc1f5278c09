package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.natives.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The fake driver of the native module's tests: a library with the functions of libcuda.so.1, whose
 * GPU is a thread, and which is opened by the same loader. For one test at a time.
 */
@SuppressWarnings("restricted") // the library of the tests is called without glue
final class FakeCuda {
  /** A driver with batches in their first form. */
  static final int CUDA_12_8 = 12080;

  /** A driver with batches in their second form. */
  static final int CUDA_13 = 13000;

  /** A driver without batches. */
  static final int CUDA_12_0 = 12000;

  private static final Path LIBRARY =
      Path.of("..", "native-nar", "target", "cpp-test", "libcuda-fake.so").toAbsolutePath();

  private final SymbolLookup symbols;

  /** Opens the fake, and resets it to one GPU of a driver's version. */
  FakeCuda(int version) {
    assumeTrue(NativeLibrary.isAvailable(), "no native library: there was no C++ compiler");
    assertThat(LIBRARY).as("made by the build of native-nar, phase test").matches(Files::exists);
    this.symbols = SymbolLookup.libraryLookup(LIBRARY, Arena.global());
    reset(version, 1);
  }

  Path library() {
    return LIBRARY;
  }

  void reset(int version, int devices) {
    call("fakeCudaReset", null, ValueLayout.JAVA_INT, version, ValueLayout.JAVA_INT, devices);
  }

  /** Makes the n-th call from now on of a function fail. */
  void fail(String function, int nth, int error) {
    try (var arena = Arena.ofConfined()) {
      call(
          "fakeCudaFail",
          null,
          ValueLayout.ADDRESS,
          arena.allocateFrom(function),
          ValueLayout.JAVA_INT,
          nth,
          ValueLayout.JAVA_INT,
          error);
    }
  }

  /** Makes the n-th work from now on of the GPU fail. */
  void failWork(int nth, int error) {
    call("fakeCudaFailWork", null, ValueLayout.JAVA_INT, nth, ValueLayout.JAVA_INT, error);
  }

  /** Lets the GPU do so many works; all with -1. */
  void allow(long works) {
    call("fakeCudaAllow", null, ValueLayout.JAVA_LONG, works);
  }

  void letImportOwn() {
    call("fakeCudaImportOwn", null, ValueLayout.JAVA_INT, 1);
  }

  long calls(String function) {
    try (var arena = Arena.ofConfined()) {
      return number("fakeCudaCalls", ValueLayout.ADDRESS, arena.allocateFrom(function));
    }
  }

  /** Returns what was not given back. */
  long live() {
    return number("fakeCudaLive");
  }

  /** Returns the uses that a driver may answer with anything. */
  long violations() {
    return number("fakeCudaViolations");
  }

  private long number(String name, Object... arguments) {
    return (long) Objects.requireNonNull(call(name, ValueLayout.JAVA_LONG, arguments));
  }

  /**
   * Calls a function.
   *
   * @param result null for none
   * @param arguments layout and value of each
   */
  private @Nullable Object call(String name, @Nullable MemoryLayout result, Object... arguments) {
    var layouts = new MemoryLayout[arguments.length / 2];
    var values = new Object[arguments.length / 2];
    for (int i = 0; i < layouts.length; i++) {
      layouts[i] = (MemoryLayout) arguments[2 * i];
      values[i] = arguments[2 * i + 1];
    }
    var shape =
        result == null
            ? FunctionDescriptor.ofVoid(layouts)
            : FunctionDescriptor.of(result, layouts);
    MethodHandle handle =
        Linker.nativeLinker().downcallHandle(symbols.find(name).orElseThrow(), shape);
    try {
      return handle.invokeWithArguments(values);
    } catch (Throwable failure) {
      throw new AssertionError(failure);
    }
  }
}
