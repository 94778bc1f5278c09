package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.config.plane.UcxMode;
import io.dynamo.config.plane.UcxSettings;
import io.dynamo.event.Until;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The library of native-nar's tests that takes UCX's place: workers of one process, and faults that
 * a test sets. Compiled once; without a compiler its tests are left out.
 */
final class FakeUcx {
  private static final Path SOURCE = Path.of("../native-nar/src/test/c++/fake/ucp.cpp");
  private static @Nullable Path compiled; // guarded by the class

  /** The faults of the library, with the numbers of {@code fake/ucp.h}. */
  enum Fault {
    NONE(0),
    REFUSED_ENDPOINT(1),
    FAILED_PUT(2),
    LOST_PEER(3),
    STANDSTILL(4),
    NO_REGISTRATION(5),
    CORRUPT_READ(6),
    STOPPED_PUTS(7),
    HANG(8);

    private final int number;

    Fault(int number) {
      this.number = number;
    }
  }

  private FakeUcx() {}

  /** Returns the library, which is used over all of its ways. */
  static UcxLibrary library() {
    return library(UcxMode.ALWAYS);
  }

  static UcxLibrary library(UcxMode mode) {
    return new UcxLibrary(new UcxSettings(mode, file()));
  }

  static synchronized Path file() {
    var known = compiled;
    if (known == null) {
      try {
        known = compile();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      compiled = known;
    }
    return known;
  }

  private static Path compile() throws IOException, InterruptedException {
    var folder = Files.createTempDirectory("fake-ucx");
    folder.toFile().deleteOnExit();
    var file = folder.resolve("libucp.so");
    file.toFile().deleteOnExit();
    var compiler = System.getenv().getOrDefault("CXX", "g++");
    assumeTrue(isThere(compiler), "left out: there is no compiler " + compiler);
    var process =
        new ProcessBuilder(
                compiler, "-std=c++17", "-fPIC", "-shared", SOURCE.toString(), "-o", "" + file)
            .inheritIO()
            .start();
    assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).isZero();
    return file;
  }

  private static boolean isThere(String compiler) throws InterruptedException {
    try {
      return new ProcessBuilder(compiler, "--version").start().waitFor() == 0;
    } catch (IOException absent) {
      return false;
    }
  }

  /** Waits until a put is on its way, which is there with {@link Fault#STOPPED_PUTS} only. */
  static void awaitPut() {
    Until.holds(() -> count("fake_ucp_waiting") > 0);
  }

  /** Lets the threads of transports stand still in the library until there is another fault. */
  static void hang(int threads) {
    set(Fault.HANG);
    Until.holds(() -> count("fake_ucp_hanging") == threads);
  }

  /** Returns how many objects of the library are in use. */
  static long live() {
    return count("fake_ucp_live");
  }

  @SuppressWarnings("restricted") // calls the library of the tests
  private static long count(String function) {
    try (var arena = Arena.ofConfined()) {
      var found = SymbolLookup.libraryLookup(file(), arena).findOrThrow(function);
      return (long)
          Linker.nativeLinker()
              .downcallHandle(found, FunctionDescriptor.of(ValueLayout.JAVA_LONG))
              .invokeExact();
    } catch (Throwable failure) {
      throw new AssertionError(failure);
    }
  }

  /** Makes something go wrong from now on, for all transports of the process. */
  @SuppressWarnings("restricted") // calls the library of the tests
  static void set(Fault fault) {
    try (var arena = Arena.ofConfined()) {
      var function = SymbolLookup.libraryLookup(file(), arena).findOrThrow("fake_ucp_set");
      Linker.nativeLinker()
          .downcallHandle(function, FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT))
          .invokeExact(fault.number);
    } catch (Throwable failure) {
      throw new AssertionError(failure);
    }
  }
}
