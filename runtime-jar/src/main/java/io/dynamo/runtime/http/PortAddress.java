package io.dynamo.runtime.http;

import io.dynamo.config.key.InvalidSettingsException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.List;

/** The address that the HTTP port is to listen on. */
record PortAddress(String host, int port) {
  private static final int CONNECT_MILLIS = 500;
  private static final String EVERY_ADDRESS = "*"; // in the container's syntax

  /**
   * Binds the address for a moment, as the container will.
   *
   * @throws InvalidSettingsException when that is not possible
   */
  void requireFree() {
    try (var socket = new ServerSocket()) {
      socket.setReuseAddress(true); // as config/http.xml has it
      socket.bind(
          host.equals(EVERY_ADDRESS)
              ? new InetSocketAddress(port)
              : new InetSocketAddress(InetAddress.getByName(host), port),
          1);
    } catch (UnknownHostException e) {
      throw refused(
          "dynamo.http.host = \"%s\" is no address and no name that leads to one; name an address of this host"
              .formatted(host),
          e);
    } catch (IOException e) {
      throw refused(
          "dynamo.http.port = \"%d\" cannot be opened on dynamo.http.host = \"%s\": %s; end the process that has it, or set another port"
              .formatted(port, host, e.getMessage()),
          e);
    }
  }

  /** Whether any process accepts connections there. */
  boolean answers() {
    try (var socket = new Socket()) {
      var every = new InetSocketAddress(port).getAddress();
      var at = host.equals(EVERY_ADDRESS) ? every : InetAddress.getByName(host);
      socket.connect(
          new InetSocketAddress(
              at.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : at, port),
          CONNECT_MILLIS);
      return true;
    } catch (IOException nobody) {
      return false;
    }
  }

  /** Returns why a server that finds another process at its address does not continue. */
  InvalidSettingsException taken() {
    return new InvalidSettingsException(
        List.of(
            "dynamo.http.port = \"%d\" on dynamo.http.host = \"%s\" was taken by another process while the server started; end that process, or set another port"
                .formatted(port, host)));
  }

  private static InvalidSettingsException refused(String problem, IOException cause) {
    var refused = new InvalidSettingsException(List.of(problem));
    refused.initCause(cause);
    return refused;
  }

  /**
   * Returns the element that opens the port, under the id of {@code config/http.xml}.
   *
   * @param isSecure whether the port uses TLS exclusively
   */
  String xml(boolean isSecure) {
    return """
      <httpEndpoint id="defaultHttpEndpoint" enabled="true" host="%s" httpPort="%d" httpsPort="%d"%s/>
    """
        .formatted(
            escaped(host),
            isSecure ? -1 : port,
            isSecure ? port : -1,
            isSecure ? " sslOptionsRef=\"dynamoTlsOptions\"" : "");
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
  }
}
