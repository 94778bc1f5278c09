package io.dynamo.frontend.media;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * One GET on a connection of its own to an address that was checked before: the name is not looked
 * up again. It sends no cookies and no credentials, and asks for no content coding. Blocks a
 * virtual thread, whose interrupt closes the connection.
 */
final class HttpGet implements AutoCloseable {
  /**
   * The file that is asked for, and how.
   *
   * @param userAgent the value of the header
   * @param accept the media types
   * @param firstBytes how many bytes of the file are wanted; 0 is all
   */
  record Request(MediaUrl url, String userAgent, String accept, int firstBytes) {}

  private final Socket socket;

  private HttpGet(Socket socket) {
    this.socket = socket;
  }

  /**
   * Connects.
   *
   * @param tls makes the connections of https URLs
   */
  static HttpGet connect(MediaUrl url, InetAddress address, Duration limit, SSLSocketFactory tls)
      throws IOException {
    var socket = new Socket();
    try {
      socket.setTcpNoDelay(true);
      socket.connect(
          new InetSocketAddress(address, url.port()), (int) Math.max(1, limit.toMillis()));
      return new HttpGet(url.secure() ? secured(socket, url, tls) : socket);
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  private static Socket secured(Socket plain, MediaUrl url, SSLSocketFactory tls)
      throws IOException {
    var host = url.host().startsWith("[") ? unbracketed(url.host()) : url.host();
    var socket = (SSLSocket) tls.createSocket(plain, host, url.port(), true);
    var parameters = socket.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    parameters.setApplicationProtocols(new String[] {"http/1.1"});
    socket.setSSLParameters(parameters);
    socket.startHandshake();
    return socket;
  }

  private static String unbracketed(String host) {
    return host.substring(1, host.length() - 1);
  }

  /**
   * Returns a maker of TLS connections, which the container's settings do not change.
   *
   * @param authorities that it trusts; null trusts those of the JDK
   */
  static SSLSocketFactory trusting(@Nullable KeyStore authorities) {
    try {
      var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(authorities);
      var context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context.getSocketFactory();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the JDK has no TLS", e);
    }
  }

  /** Sends the request and reads the answer up to its body. */
  HttpReply send(Request request) throws IOException {
    var url = request.url();
    var range =
        request.firstBytes() == 0 ? "" : "Range: bytes=0-" + (request.firstBytes() - 1) + "\r\n";
    var head =
        "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\nAccept: %s\r\nAccept-Encoding: identity\r\n%sConnection: close\r\n\r\n"
            .formatted(url.target(), url.authority(), request.userAgent(), request.accept(), range);
    socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    return HttpReply.read(new BufferedInputStream(socket.getInputStream()));
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // nothing was left to send
    }
  }
}
