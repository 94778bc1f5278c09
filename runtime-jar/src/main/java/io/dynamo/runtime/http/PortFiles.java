package io.dynamo.runtime.http;

import io.dynamo.config.HttpTlsSettings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The contents of the TLS files of the HTTP port at one moment, equal to others with the same ones.
 *
 * @param contents by file
 */
record PortFiles(HttpTlsSettings tls, Map<Path, String> contents) {
  static PortFiles read(HttpTlsSettings tls) throws BadFileException {
    Map<Path, String> read = new HashMap<>();
    read(read, "certificate", tls.certificate());
    read(read, "key", tls.key());
    read(read, "client-authorities", tls.clientAuthorities());
    return new PortFiles(tls, read);
  }

  private static void read(Map<Path, String> into, String setting, @Nullable Path file)
      throws BadFileException {
    if (file != null) {
      try {
        into.put(file, Files.readString(file, StandardCharsets.ISO_8859_1));
      } catch (IOException e) {
        throw new BadFileException(setting, file, new BadPemException("cannot be read: " + e, e));
      }
    }
  }

  /** Decodes and checks the files. */
  PortIdentity identity() throws BadFileException {
    var certificate = Objects.requireNonNull(tls.certificate());
    var key = Objects.requireNonNull(tls.key());
    var authorities = tls.clientAuthorities();
    var chain = decoded("certificate", certificate, PemCertificates::read);
    return new PortIdentity(
        chain,
        decoded("key", key, text -> PemKey.read(text, chain.getFirst().getPublicKey())),
        authorities == null
            ? null
            : decoded("client-authorities", authorities, PemCertificates::read));
  }

  private interface Decoding<T> {
    T of(String text) throws BadPemException;
  }

  private <T> T decoded(String setting, Path file, Decoding<T> decoding) throws BadFileException {
    try {
      return decoding.of(Objects.requireNonNull(contents.get(file)));
    } catch (BadPemException bad) {
      throw new BadFileException(setting, file, bad);
    }
  }
}
