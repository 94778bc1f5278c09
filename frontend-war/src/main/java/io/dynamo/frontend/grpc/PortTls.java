package io.dynamo.frontend.grpc;

import io.dynamo.config.HttpTlsSettings;
import io.dynamo.runtime.http.PortIdentity;
import io.grpc.netty.GrpcSslContexts;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolNegotiator;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSessionContext;

/**
 * TLS of the gRPC port, with the files of the HTTP port. They are read again on the timer's thread:
 * new connections use changed files, and files that cannot be used leave the previous ones in use.
 * Safe for concurrent use.
 */
@SuppressWarnings(
    "deprecation") // of Netty's type of protocol negotiators, which its own method returns
final class PortTls extends SslContext implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(PortTls.class.getName());
  private static final long BETWEEN_LOOKS_SECONDS = 30; // as on the HTTP port

  private final HttpTlsSettings settings;
  private final Future<?> looking;
  private volatile SslContext current;
  private PortIdentity inUse; // guarded by this
  private String complaint = ""; // logged last; guarded by this

  /**
   * @throws io.dynamo.config.key.InvalidSettingsException when a file is missing or invalid
   */
  PortTls(HttpTlsSettings settings, ScheduledExecutorService timer) {
    this.settings = settings;
    inUse = PortIdentity.read(settings);
    current = context(inUse);
    looking =
        timer.scheduleWithFixedDelay(
            this::reload, BETWEEN_LOOKS_SECONDS, BETWEEN_LOOKS_SECONDS, TimeUnit.SECONDS);
  }

  private static SslContext context(PortIdentity identity) {
    var builder = SslContextBuilder.forServer(identity.key(), identity.chain());
    var authorities = identity.authorities();
    if (authorities != null) {
      builder.trustManager(authorities).clientAuth(ClientAuth.REQUIRE);
    }
    try {
      return GrpcSslContexts.configure(builder, SslProvider.JDK)
          .protocols("TLSv1.3", "TLSv1.2")
          .build();
    } catch (SSLException e) {
      throw new IllegalStateException("the TLS files of the HTTP port are of no use to gRPC", e);
    }
  }

  /** Reads the files now, and uses them if they have changed. */
  synchronized void reload() {
    try {
      var now = PortIdentity.read(settings);
      if (!now.equals(inUse)) {
        current = context(now);
        inUse = now;
        LOG.log(Level.INFO, "the TLS files have changed and are in use at the gRPC port");
      }
      complaint = "";
    } catch (RuntimeException e) {
      if (!complaint.equals(e.toString())) {
        complaint = e.toString();
        LOG.log(
            Level.WARNING,
            "the gRPC port stays with the TLS files it has read before: {0}",
            e.getMessage());
      }
    }
  }

  @Override
  public boolean isClient() {
    return false;
  }

  @Override
  public List<String> cipherSuites() {
    return current.cipherSuites();
  }

  @Override
  public ApplicationProtocolNegotiator applicationProtocolNegotiator() {
    return current.applicationProtocolNegotiator();
  }

  @Override
  public SSLEngine newEngine(ByteBufAllocator allocator) {
    return current.newEngine(allocator);
  }

  @Override
  public SSLEngine newEngine(ByteBufAllocator allocator, String host, int port) {
    return current.newEngine(allocator, host, port);
  }

  @Override
  public SSLSessionContext sessionContext() {
    return current.sessionContext();
  }

  /** Stops looking at the files. */
  @Override
  public void close() {
    looking.cancel(false);
  }
}
