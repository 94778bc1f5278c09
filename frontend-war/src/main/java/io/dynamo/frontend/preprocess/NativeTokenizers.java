package io.dynamo.frontend.preprocess;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import io.dynamo.natives.NativeLibrary;
import io.dynamo.natives.UnpackFolder;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Loads the JNI library of Hugging Face's tokenizers, once per class loader that holds {@link
 * TokenizersLibrary}. Safe for concurrent use.
 *
 * <p>The library's own loader keeps one file below the home folder, which a JVM lets only one class
 * loader load, asks the machine for GPUs and may download. Here each class loader gets a copy of
 * the file in a temporary folder, removed as soon as it is mapped. The JVM binds native methods to
 * libraries loaded by a class of the same loader, so the call of {@link System#load} is made from a
 * class defined beside {@code TokenizersLibrary}.
 */
final class NativeTokenizers {
  private static final String LOADER_NAME =
      "ai.djl.huggingface.tokenizers.jni.DynamoTokenizersLoader";

  private NativeTokenizers() {}

  /**
   * The library's entry points, ready to call.
   *
   * @throws IllegalStateException when this platform has no library or no folder could hold it
   */
  static TokenizersLibrary library() {
    return Loaded.LIBRARY;
  }

  private static final class Loaded {
    static final TokenizersLibrary LIBRARY = load();
  }

  private static TokenizersLibrary load() {
    var os = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    boolean windows = os.startsWith("windows");
    var arch = System.getProperty("os.arch", "").equals("aarch64") ? "aarch64" : "x86_64";
    var platform = (windows ? "win" : os.startsWith("mac") ? "osx" : "linux") + "-" + arch;
    var library = System.mapLibraryName("tokenizers");
    List<String> files =
        windows
            ? List.of("libwinpthread-1.dll", "libgcc_s_seh-1.dll", "libstdc++-6.dll", library)
            : List.of(library);
    var folders = NativeLibrary.extractFolders();
    var failure =
        new IllegalStateException(
            "the tokenizer library for %s could not be loaded from %s; set dynamo.native.extract-dir to a folder that allows writing and execution"
                .formatted(platform, folders));
    for (var folder : folders) {
      try {
        loadFrom(Path.of(folder), "native/lib/" + platform + "/cpu/", files);
        return TokenizersLibrary.LIB;
      } catch (IOException | UnsatisfiedLinkError | IllegalArgumentException e) {
        failure.addSuppressed(e);
      }
    }
    throw failure;
  }

  private static void loadFrom(Path parent, String resources, List<String> files)
      throws IOException {
    var folder = UnpackFolder.make(parent, "dynamo-tokenizers-");
    try {
      for (var file : files) {
        var copy = folder.resolve(file);
        try (InputStream in =
            TokenizersLibrary.class.getClassLoader().getResourceAsStream(resources + file)) {
          if (in == null) {
            throw new IOException("no " + resources + file + " in the tokenizers library");
          }
          Files.copy(in, copy);
        }
        systemLoad(copy.toAbsolutePath().toString());
      }
    } finally {
      for (var file : files) {
        deleteNowOrAtExit(folder.resolve(file));
      }
      deleteNowOrAtExit(folder);
    }
  }

  /** Windows keeps a mapped file; it and its folder go when the JVM does. */
  private static void deleteNowOrAtExit(Path path) {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      path.toFile().deleteOnExit();
    }
  }

  private static void systemLoad(String file) {
    try {
      var lookup = MethodHandles.privateLookupIn(TokenizersLibrary.class, MethodHandles.lookup());
      MethodHandle load =
          lookup.findStatic(
              loaderClass(lookup), "load", MethodType.methodType(void.class, String.class));
      load.invokeExact(file);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("the tokenizer library's loader class is not usable", e);
    }
  }

  private static Class<?> loaderClass(MethodHandles.Lookup lookup)
      throws IllegalAccessException, ClassNotFoundException {
    try {
      return lookup.findClass(LOADER_NAME);
    } catch (ClassNotFoundException notYet) {
      try {
        return lookup.defineClass(loaderBytes());
      } catch (LinkageError definedMeanwhile) {
        return lookup.findClass(LOADER_NAME);
      }
    }
  }

  /**
   * {@code final class DynamoTokenizersLoader { static void load(String f) { System.load(f); } }}
   */
  private static byte[] loaderBytes() {
    var type = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_String);
    return ClassFile.of()
        .build(
            ClassDesc.of(LOADER_NAME),
            loader ->
                loader.withMethodBody(
                    "load",
                    type,
                    ClassFile.ACC_STATIC,
                    code ->
                        code.aload(0)
                            .invokestatic(ClassDesc.of("java.lang.System"), "load", type)
                            .return_()));
  }
}
