package io.dynamo.runtime.http;

import io.dynamo.config.FrontendSettings;
import io.dynamo.config.InvalidSettingsException;
import io.dynamo.config.ServerSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Tells the container what the settings say of the HTTP port, in a piece of its configuration below
 * the server's output folder: it includes that piece and takes over what changes there. Settings as
 * they ship need no piece, and one that an earlier start left is removed.
 */
public final class HttpPort {
  static final String FOLDER = "http-port"; // as in config/http.xml

  private HttpPort() {}

  /**
   * Writes the piece, or removes it.
   *
   * @param outputFolder of the server; null where there is no container, and the settings must then
   *     ask for nothing
   * @param timer looks at the TLS files until what is returned is closed; the piece stays then, for
   *     the port must not change while the server stops
   * @throws InvalidSettingsException when a file is missing or not what it should be
   * @throws UncheckedIOException when the piece cannot be written
   */
  public static AutoCloseable open(
      ServerSettings server,
      FrontendSettings frontend,
      @Nullable Path outputFolder,
      ScheduledExecutorService timer) {
    var tls = server.httpTls();
    var limits = PortLimits.of(server, frontend);
    boolean asks = tls.isOn() || !limits.areAsShipped();
    if (outputFolder == null) {
      if (asks) {
        throw new IllegalStateException(
            "there is no server.output.dir, where the container would be told of the HTTP port's"
                + " TLS and limits; leave out dynamo.http.tls.* and the limits");
      }
      return () -> {};
    }
    var folder = new PieceFolder(outputFolder.resolve(FOLDER));
    try {
      if (tls.isOn()) {
        return TlsFiles.open(tls, limits, folder, timer);
      }
      if (asks) {
        folder.replace(limits.xml(), Map.of());
      } else {
        folder.clear();
      }
      return () -> {};
    } catch (BadFileException bad) {
      throw new InvalidSettingsException(List.of(String.valueOf(bad.getMessage())));
    } catch (IOException e) {
      throw new UncheckedIOException(
          "the HTTP port's configuration in %s cannot be changed; the server must be able to write there"
              .formatted(folder.path()),
          e);
    }
  }
}
