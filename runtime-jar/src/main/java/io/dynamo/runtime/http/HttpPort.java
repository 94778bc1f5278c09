package io.dynamo.runtime.http;

import io.dynamo.config.ServerSettings;
import io.dynamo.config.frontend.FrontendSettings;
import io.dynamo.config.key.InvalidSettingsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Configures the container's HTTP port by a file below the server's output folder. As shipped the
 * port is closed; the container includes only the file of its own start, so that a file left by an
 * earlier start opens nothing.
 */
public final class HttpPort {
  static final String FOLDER = "http-port"; // as in config/http.xml

  private HttpPort() {}

  /**
   * Writes the configuration file, after checking everything that it is made of.
   *
   * @param container null where there is none; the settings must then require neither TLS nor
   *     limits
   * @param timer checks the TLS files, and whether the port is opened, until the result is closed;
   *     the configuration file then stays, because the port must not change while the server stops
   * @param onTaken called at most once, when another process has taken the port in the meantime
   * @throws InvalidSettingsException when a file is missing or invalid, or the address cannot be
   *     bound
   * @throws UncheckedIOException when the configuration file cannot be written
   */
  public static AutoCloseable open(
      ServerSettings server,
      FrontendSettings frontend,
      @Nullable Container container,
      ScheduledExecutorService timer,
      Consumer<? super InvalidSettingsException> onTaken) {
    var tls = server.httpTls();
    var limits = PortLimits.of(server, frontend);
    if (container == null) {
      if (tls.isOn() || !limits.areAsShipped()) {
        throw new IllegalStateException(
            "there is no server.output.dir, where the container would read of the HTTP port's"
                + " TLS and limits; leave out dynamo.http.tls.* and the limits");
      }
      return () -> {};
    }
    var address = new PortAddress(server.httpHost(), server.httpPort());
    if (!container.hasOpened(address.port())) {
      address.requireFree();
    }
    var watch =
        new PortWatch(
            address, () -> container.hasOpened(address.port()), address::answers, onTaken);
    var xml = (limits.areAsShipped() ? "" : limits.xml()) + address.xml(tls.isOn());
    var folder = new PieceFolder(container.outputFolder().resolve(FOLDER), container.start());
    try {
      folder.deleteOthers();
      AutoCloseable files = () -> {};
      if (tls.isOn()) {
        files = TlsFiles.open(tls, xml, folder, timer);
      } else {
        folder.replace(xml, Map.of());
      }
      container.announce(folder.path());
      return both(files, watch.start(timer));
    } catch (BadFileException bad) {
      throw new InvalidSettingsException(List.of(String.valueOf(bad.getMessage())));
    } catch (IOException e) {
      throw new UncheckedIOException(
          "the HTTP port's configuration in %s cannot be changed; the server must be able to write there"
              .formatted(folder.path()),
          e);
    }
  }

  private static AutoCloseable both(AutoCloseable files, AutoCloseable watching) {
    return () -> {
      watching.close();
      files.close();
    };
  }
}
