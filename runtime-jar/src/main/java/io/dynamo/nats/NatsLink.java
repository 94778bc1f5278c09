package io.dynamo.nats;

import io.dynamo.concurrent.Alarms;
import io.dynamo.concurrent.SerialTasks;
import io.dynamo.config.plane.NatsSettings;
import io.dynamo.config.plane.NatsSettings.NatsIdentity;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.Dispatcher;
import io.nats.client.ErrorListener;
import io.nats.client.JetStreamStatusException;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A connection to one of the NATS servers, made again whenever it is lost, for ever. Messages
 * arrive on one thread of the client library, outages are reported on a virtual thread. Safe for
 * concurrent use.
 */
public final class NatsLink implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(NatsLink.class.getName());
  private static final Duration CUT_AFTER = Duration.ofSeconds(3);
  private static final Duration ATTEMPT = Duration.ofSeconds(2);
  private static final Duration BETWEEN_ATTEMPTS = Duration.ofMillis(250);
  private static final Duration JITTER = Duration.ofMillis(100);
  private static final Duration PING = Duration.ofSeconds(10);
  private static final Duration FLUSH = Duration.ofSeconds(2);
  private static final int MAX_WARNINGS = 100;
  private static final Pattern PRINTABLE = Pattern.compile("[ -~]*");

  /** Called when the connection stands or has been lost, one call at a time; must not block. */
  public interface Watcher {
    /**
     * The connection stands, for the first time or again; the server knows all subscriptions made
     * before this watcher was added.
     */
    void up();

    /** The connection has been down for some seconds. */
    void cut();
  }

  /** The outcome of publishing a message. */
  public enum Outcome {
    /** The message is on its way. */
    SENT,
    /** There is no connection; {@link Watcher#up} reports the next one. */
    DOWN,
    /** The message is larger than the server accepts. */
    TOO_LARGE
  }

  /** A registration that ends when it is closed. Idempotent. */
  public interface Registration extends AutoCloseable {
    @Override
    void close();
  }

  private final Alarms alarms;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("nats-link-", 0).factory());
  private final SerialTasks reports = SerialTasks.unbounded("the watchers of NATS", threads);
  private final Set<Watcher> watchers = ConcurrentHashMap.newKeySet();
  private final Set<String> warned = ConcurrentHashMap.newKeySet(); // until the next connection
  private final AtomicBoolean standing = new AtomicBoolean(); // between an up and a down
  private final AtomicInteger changes = new AtomicInteger(); // ups and downs so far
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Connection connection;
  private final Dispatcher dispatcher;
  private final Dispatcher requests; // apart, so that events do not delay them
  private boolean cut; // by the reports only

  private NatsLink(NatsSettings settings, Alarms alarms) {
    this.alarms = alarms;
    connection = connect(settings);
    standing.set(true);
    dispatcher = connection.createDispatcher();
    requests = connection.createDispatcher();
  }

  /**
   * Connects to one of the servers.
   *
   * @param alarms report outages that last
   * @throws IllegalStateException when none can be reached in time or none accepts the credentials
   */
  public static NatsLink open(NatsSettings settings, Alarms alarms) {
    return new NatsLink(settings, alarms);
  }

  private Connection connect(NatsSettings settings) {
    var options = options(settings);
    long end = System.nanoTime() + settings.startTimeout().toNanos();
    boolean warned = false;
    while (true) {
      try {
        var made = Nats.connect(options);
        LOG.log(Level.INFO, "connected to NATS at {0}", made.getConnectedUrl());
        return made;
      } catch (AuthenticationException e) {
        threads.shutdownNow();
        throw new IllegalStateException(
            "the NATS server at %s refuses the credentials: %s; correct dynamo.nats.*"
                .formatted(settings.servers(), e.getMessage()),
            e);
      } catch (IOException e) {
        if (System.nanoTime() - end >= 0) {
          threads.shutdownNow();
          throw new IllegalStateException(
              "no NATS server at %s within %s of dynamo.nats.start-timeout: %s; start one, or correct dynamo.nats.*"
                  .formatted(settings.servers(), settings.startTimeout(), e.getMessage()),
              e);
        }
        if (!warned) {
          warned = true;
          LOG.log(
              Level.WARNING,
              "no NATS server at {0} yet: {1}; trying for {2}",
              settings.servers(),
              e.getMessage(),
              settings.startTimeout());
        }
      } catch (InterruptedException e) {
        threads.shutdownNow();
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while connecting to NATS", e);
      }
      pause();
    }
  }

  private void pause() {
    try {
      boolean _ = closing.await(BETWEEN_ATTEMPTS.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt(); // the next attempt reports it
    }
  }

  private Options options(NatsSettings settings) {
    var options =
        new Options.Builder()
            .servers(settings.servers().stream().map(URI::toString).toArray(String[]::new))
            .connectionName("dynamo")
            .connectionTimeout(ATTEMPT)
            .maxReconnects(-1)
            .reconnectWait(BETWEEN_ATTEMPTS)
            .reconnectJitter(JITTER)
            .reconnectJitterTls(JITTER)
            .reconnectBufferSize(0) // messages wait in the bounded queues of their senders
            .pingInterval(PING)
            .supportUTF8Subjects()
            .reportNoResponders()
            .connectionListener(new Listener())
            .errorListener(new Errors());
    if (settings.usesTls()) {
      // the certificate is checked against the name that was set
      options
          .sslContext(NatsTls.context(settings.tls()))
          .hostnameResolveMode(Options.HostnameResolveMode.Unresolved);
    }
    switch (settings.identity()) {
      case NatsIdentity.User user ->
          options.userInfo(user.name().toCharArray(), user.password().toCharArray());
      case NatsIdentity.Token token -> options.token(token.token().toCharArray());
      case NatsIdentity.NKey nkey -> options.authHandler(NKeyIdentity.ofSeed(nkey.seed()));
      case NatsIdentity.Credentials credentials ->
          options.authHandler(NKeyIdentity.ofFile(credentials.file()));
    }
    return options.build();
  }

  /** Whether there is a connection now. */
  public boolean isUp() {
    return connection.getStatus() == Connection.Status.CONNECTED;
  }

  /** Returns the largest message that the server accepts, in bytes. */
  public long maxPayload() {
    return connection.getMaxPayload();
  }

  /** Returns the client library's connection, for calls that this class does not cover. */
  public Connection connection() {
    return connection;
  }

  /**
   * Publishes a message; waits while the client library's own queue is full. Messages of one thread
   * arrive in order.
   */
  public Outcome publish(String subject, byte[] message) {
    while (isUp()) {
      try {
        connection.publish(subject, message);
        return Outcome.SENT;
      } catch (IllegalArgumentException _) {
        return Outcome.TOO_LARGE;
      } catch (IllegalStateException _) {
        // the connection was lost meanwhile, or the library's queue is still full
      }
    }
    return Outcome.DOWN;
  }

  /**
   * Waits until the server has processed earlier messages and subscriptions.
   *
   * @return false when it could not be confirmed
   */
  public boolean flush() {
    try {
      connection.flush(FLUSH);
      return true;
    } catch (TimeoutException | IllegalStateException _) {
      return false;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Calls {@code listener} for each message of {@code subject}, in order, on the thread of all
   * subscriptions: it must not block.
   */
  public Registration subscribe(String subject, Consumer<byte[]> listener) {
    var subscription = dispatcher.subscribe(subject, message -> listener.accept(message.getData()));
    return () -> {
      try {
        if (subscription.isActive()) {
          dispatcher.unsubscribe(subscription);
        }
      } catch (IllegalStateException _) {
        // the connection is closed, and all subscriptions with it
      }
    };
  }

  /** Receives requests; called on the thread of all served subjects: it must not block. */
  public interface RequestListener {
    /**
     * @param replyTo subject of the answer; null when none is awaited
     */
    void request(byte[] data, Map<String, String> headers, @Nullable String replyTo);
  }

  /**
   * Calls {@code listener} for each request to {@code subject} that the server gives to this member
   * of {@code queue}.
   */
  public Registration serve(String subject, String queue, RequestListener listener) {
    var subscription =
        requests.subscribe(
            subject,
            queue,
            message ->
                listener.request(
                    message.getData(), headers(message.getHeaders()), message.getReplyTo()));
    return () -> {
      try {
        if (subscription.isActive()) {
          requests.unsubscribe(subscription);
        }
      } catch (IllegalStateException _) {
        // the connection is closed, and all subscriptions with it
      }
    };
  }

  private static Map<String, String> headers(@Nullable Headers headers) {
    if (headers == null || headers.isEmpty()) {
      return Map.of();
    }
    var all = new LinkedHashMap<String, String>();
    headers.forEach((name, values) -> all.put(name, values.getLast()));
    return all;
  }

  /**
   * Sends a request; waits while the client library's own queue is full. Headers that the protocol
   * cannot carry are left out.
   *
   * @return the answer; fails with {@link NoRespondersException} when nobody serves the subject,
   *     and with any other exception when there is no connection, no answer in time, or the message
   *     is too large
   */
  public CompletableFuture<byte[]> request(
      String subject, Map<String, String> headers, byte[] data, Duration timeout) {
    var carried = new Headers();
    headers.forEach(
        (name, value) -> {
          if (PRINTABLE.matcher(value).matches()) {
            carried.put(name, value);
          }
        });
    try {
      return connection
          .requestWithTimeout(subject, carried, data, timeout)
          .orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS)
          .handle(
              (message, failure) -> {
                if (failure instanceof JetStreamStatusException status
                    && status.getStatus().isNoResponders()) {
                  throw new NoRespondersException(subject);
                }
                if (failure != null) {
                  throw new CompletionException(failure);
                }
                return message.getData();
              });
    } catch (IllegalStateException | IllegalArgumentException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Reports the state of the connection to {@code watcher} from now on. */
  public Registration watch(Watcher watcher) {
    var open = new AtomicBoolean(true);
    reports.add(
        () -> {
          watchers.add(watcher); // between two reports, so that it gets each of them once
          if (!open.get()) {
            watchers.remove(watcher);
          } else if (cut) {
            watcher.cut();
          } else if (isUp() && flush()) {
            watcher.up();
          }
        });
    return () -> {
      open.set(false);
      watchers.remove(watcher);
    };
  }

  private void lost() {
    int outage = changes.incrementAndGet();
    alarms.after(
        CUT_AFTER,
        () ->
            reports.add(
                () -> {
                  if (changes.get() == outage) {
                    cut = true;
                    watchers.forEach(Watcher::cut);
                  }
                }));
  }

  private void restored() {
    changes.incrementAndGet();
    warned.clear();
    reports.add(
        () -> {
          cut = false;
          watchers.forEach(Watcher::up);
        });
  }

  /** Follows the library's connection; called on a thread of the library. */
  private final class Listener implements ConnectionListener {
    @Override
    @SuppressWarnings("deprecation") // the one method that must be there
    public void connectionEvent(Connection from, Events event) {
      switch (event) {
        case DISCONNECTED -> { // also for each attempt that fails
          if (closing.getCount() > 0 && standing.compareAndSet(true, false)) {
            LOG.log(Level.WARNING, "the connection to NATS is lost; connecting again");
            lost();
          }
        }
        case RESUBSCRIBED -> {
          standing.set(true);
          LOG.log(Level.INFO, "connected to NATS at {0} again", from.getConnectedUrl());
          restored();
        }
        case CONNECTED, CLOSED, RECONNECTED, DISCOVERED_SERVERS, LAME_DUCK -> {}
      }
    }
  }

  /** Logs each kind of error once per connection. */
  private final class Errors implements ErrorListener {
    @Override
    public void errorOccurred(Connection from, String error) {
      if (warned.size() < MAX_WARNINGS && warned.add(error)) {
        LOG.log(Level.WARNING, "the NATS server reports: {0}", error);
      }
    }

    @Override
    public void exceptionOccurred(Connection from, @Nullable Exception failure) {
      LOG.log(Level.DEBUG, "the connection to NATS failed", failure);
    }

    @Override
    public void slowConsumerDetected(Connection from, io.nats.client.Consumer consumer) {
      errorOccurred(from, "messages arrive faster than they are taken and are dropped");
    }
  }

  /** Closes the connection. Idempotent. */
  @Override
  public void close() {
    closing.countDown();
    reports.close();
    try {
      connection.close();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    threads.shutdownNow();
  }
}
