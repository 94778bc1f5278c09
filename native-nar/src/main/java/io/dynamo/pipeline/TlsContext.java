package io.dynamo.pipeline;

import io.netty.channel.Channel;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * One end of TLS connections, configured by PEM files that are read again when they change: later
 * connections use the new contents. Safe for concurrent use; a thread of its own polls the files.
 */
public final class TlsContext implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(TlsContext.class.getName());
  private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(30);

  /**
   * The files of one end.
   *
   * @param certificate the certificate chain to present; null presents none
   * @param key the key of {@code certificate}, PKCS #8 without a password
   * @param authorities the authorities that the peer's certificate is checked against; null checks
   *     none
   */
  public record PemFiles(
      @Nullable Path certificate, @Nullable Path key, @Nullable Path authorities) {
    private Map<Path, String> read() throws IOException {
      Map<Path, String> contents = new HashMap<>();
      for (var file : Stream.of(certificate, key, authorities).filter(Objects::nonNull).toList()) {
        contents.put(file, Files.readString(file, StandardCharsets.ISO_8859_1));
      }
      return contents;
    }
  }

  private final PemFiles files;
  private final boolean server;
  private final @Nullable String serverName;
  private final long handshakeMillis;
  private final List<String> protocols;
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile SslContext current;
  private Map<Path, String> contents; // latest contents; guarded by this

  private TlsContext(
      PemFiles files,
      boolean server,
      @Nullable String serverName,
      Duration handshakeTimeout,
      String... protocols) {
    this.protocols = List.of(protocols);
    this.files = files;
    this.server = server;
    this.serverName = serverName;
    this.handshakeMillis = Math.max(1, handshakeTimeout.toMillis());
    try {
      contents = files.read();
      current = build(contents);
    } catch (IOException | RuntimeException e) {
      throw new IllegalStateException(
          "cannot use %s for TLS: %s; they must be PEM, the key PKCS #8 without a password"
              .formatted(files, e.getMessage()),
          e);
    }
    Thread.ofVirtual().name("dynamo-tls-files").start(this::watch);
  }

  /**
   * Returns the accepting end. With authorities it demands that clients present a certificate of
   * theirs.
   *
   * @param protocols offered by ALPN; none leaves ALPN out
   * @throws IllegalStateException when a file is missing or invalid
   */
  public static TlsContext ofServer(
      PemFiles files, Duration handshakeTimeout, String... protocols) {
    return new TlsContext(files, true, null, handshakeTimeout, protocols);
  }

  /**
   * Returns the connecting end. Without authorities it does not verify the peer's identity.
   *
   * @param serverName the name that the peer's certificate must have; null takes the IP address
   *     dialled
   * @param protocols asked for by ALPN; none leaves ALPN out
   * @throws IllegalStateException when a file is missing or invalid
   */
  public static TlsContext ofClient(
      PemFiles files, @Nullable String serverName, Duration handshakeTimeout, String... protocols) {
    return new TlsContext(files, false, serverName, handshakeTimeout, protocols);
  }

  private SslContext build(Map<Path, String> from) throws SSLException {
    var certificate = stream(files.certificate, from);
    var key = stream(files.key, from);
    var authorities = stream(files.authorities, from);
    SslContextBuilder builder;
    if (server) {
      builder = SslContextBuilder.forServer(certificate, key);
      if (authorities != null) {
        builder.trustManager(authorities).clientAuth(ClientAuth.REQUIRE);
      }
    } else {
      builder = SslContextBuilder.forClient();
      if (certificate != null) {
        builder.keyManager(certificate, key);
      }
      if (authorities != null) {
        builder.trustManager(authorities).endpointIdentificationAlgorithm("HTTPS");
      } else {
        builder
            .trustManager(InsecureTrustManagerFactory.INSTANCE)
            .endpointIdentificationAlgorithm(null);
      }
    }
    if (!protocols.isEmpty()) {
      builder.applicationProtocolConfig(
          new ApplicationProtocolConfig(
              ApplicationProtocolConfig.Protocol.ALPN,
              ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
              ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
              protocols));
    }
    return builder.sslProvider(SslProvider.JDK).build();
  }

  private static @Nullable InputStream stream(@Nullable Path file, Map<Path, String> from) {
    var text = file == null ? null : from.get(file);
    return text == null
        ? null
        : new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  /**
   * Adds TLS in front of the channel's handlers; for a client, before it connects.
   *
   * @param peer the dialled address; null on the accepting end
   */
  public void secure(Channel channel, @Nullable InetSocketAddress peer) {
    SslHandler handler;
    if (peer == null) {
      handler = current.newHandler(channel.alloc());
    } else {
      var name = serverName == null ? peer.getAddress().getHostAddress() : serverName;
      handler = current.newHandler(channel.alloc(), name, peer.getPort());
    }
    handler.setHandshakeTimeoutMillis(handshakeMillis);
    channel.pipeline().addFirst(handler);
  }

  private void watch() {
    try {
      while (!closed.await(BETWEEN_LOOKS.toMillis(), TimeUnit.MILLISECONDS)) {
        reload();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Reads the files now, and uses them if they have changed. When the new files are invalid,
   * perhaps half written, the earlier contents stay in use.
   */
  public synchronized void reload() {
    Map<Path, String> now = contents;
    try {
      now = files.read();
      if (now.equals(contents)) {
        return;
      }
      current = build(now);
      LOG.log(System.Logger.Level.INFO, "TLS files have changed and are in use: {0}", files);
    } catch (IOException | RuntimeException e) {
      LOG.log(
          System.Logger.Level.WARNING,
          "changed TLS files are of no use, the ones before stay in use: " + files,
          e);
    }
    contents = now; // also when invalid: logged once
  }

  /** Stops polling the files. Idempotent. */
  @Override
  public void close() {
    closed.countDown();
  }
}
