package io.dynamo.request.tcp;

import io.dynamo.config.plane.TcpSettings;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.DynamoException;
import io.dynamo.error.OverloadedException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.request.tcp.silence.SilenceRules;
import io.dynamo.request.tcp.silence.WorkerContact;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks all calls of a client a few times per second, probes the workers of silent calls, and ends
 * calls whose worker is lost. One timer serves all calls; an item costs only its count. The checks
 * run on one event loop, and only while there are calls.
 *
 * <p>A probe is a request to an endpoint that no worker has: Dynamo's workers and ours refuse it at
 * once in the acknowledgement, which only a running process can write. Over NATS it is an empty
 * request to the instance's own subject, which Dynamo's workers acknowledge and ours refuse.
 */
final class SilenceWatch {
  private static final System.Logger LOG = System.getLogger(SilenceWatch.class.getName());
  private static final Duration MOST_BETWEEN_LOOKS = Duration.ofMillis(500);
  private static final Duration LEAST_BETWEEN_LOOKS = Duration.ofMillis(10);
  private static final int LOOKS = 4; // looks within the shortest limit
  private static final String PROBED_ENDPOINT = "/probe";
  private static final byte[] NO_FIELDS = "{}".getBytes(StandardCharsets.UTF_8);
  private static final byte[] NOTHING = {};

  private final Set<TcpCall<?, ?>> calls;
  private final TcpSettings settings;
  private final BiConsumer<OutgoingRequest, RequestConnection.Outcome> sender;
  private final EventLoop loop;
  private final LongSupplier nanoTime;
  private final long periodNanos;
  private final Map<String, WorkerContact> contacts = new ConcurrentHashMap<>(); // by address
  private final AtomicBoolean looking = new AtomicBoolean();

  private final Map<WorkerContact, Instance> touched = new HashMap<>(); // by the event loop only
  private long lookedAtNanos; // used by the event loop only
  private volatile @Nullable Future<?> next;

  /**
   * @param calls the running calls; a live view
   * @param sender sends the probes
   */
  SilenceWatch(
      Set<TcpCall<?, ?>> calls,
      TcpSettings settings,
      BiConsumer<OutgoingRequest, RequestConnection.Outcome> sender,
      EventLoop loop,
      LongSupplier nanoTime) {
    this.calls = calls;
    this.settings = settings;
    this.sender = sender;
    this.loop = loop;
    this.nanoTime = nanoTime;
    periodNanos = period(settings);
  }

  private static long period(TcpSettings settings) {
    var silence = settings.silence();
    var timeouts = settings.timeouts();
    long shortest =
        Stream.of(
                silence.silence(),
                silence.probe(),
                silence.betweenItems(),
                silence.firstItem(),
                timeouts.callHome(),
                timeouts.prologue(),
                timeouts.inactivity())
            .filter(Duration::isPositive)
            .mapToLong(Duration::toNanos)
            .min()
            .orElse(Long.MAX_VALUE);
    return Math.clamp(
        shortest / LOOKS, LEAST_BETWEEN_LOOKS.toNanos(), MOST_BETWEEN_LOOKS.toNanos());
  }

  /** Returns the contact with the worker process that serves {@code instance}. */
  WorkerContact contact(Instance instance) {
    return contacts.computeIfAbsent(
        address(instance),
        _ -> new WorkerContact(settings.silence(), settings.timeouts(), nanoTime));
  }

  /** Returns the silence tracker of a new call of {@code instance}, on this watch's clock. */
  CallSilence silence(Instance instance, SilenceRules rules) {
    return new CallSilence(contact(instance), rules, nanoTime);
  }

  /** Drops the contact of an instance that has left discovery; running calls keep theirs. */
  void forget(Instance instance) {
    instance.transport().each().forEach(each -> contacts.remove(address(each)));
  }

  private static String address(Instance instance) {
    return address(instance.transport());
  }

  private static String address(TransportAddress transport) {
    return switch (transport) {
      case TransportAddress.Tcp tcp -> tcp.address();
      case TransportAddress.Nats nats -> nats.subject();
      case TransportAddress.Http2 http2 -> http2.address();
      case TransportAddress.Several several -> throw several.unchosen();
    };
  }

  /** Starts the periodic checks, unless they run already, because a call has started. */
  void callBegan() {
    if (!looking.get() && looking.compareAndSet(false, true)) {
      loop.execute(
          () -> {
            lookedAtNanos = nanoTime.getAsLong();
            lookLater();
          });
    }
  }

  private void lookLater() {
    next = loop.schedule(this::lookAgain, periodNanos, TimeUnit.NANOSECONDS);
  }

  /** Cancels the next check, because the client has ended its calls. */
  void close() {
    var planned = next;
    if (planned != null) {
      planned.cancel(false);
    }
  }

  private void lookAgain() {
    try {
      look();
    } catch (RuntimeException e) { // the next look must still take place
      LOG.log(System.Logger.Level.ERROR, "a look at running calls failed", e);
    }
    if (calls.isEmpty()) {
      looking.set(false);
      if (calls.isEmpty() || !looking.compareAndSet(false, true)) {
        return;
      }
    }
    lookLater();
  }

  private void look() {
    long now = nanoTime.getAsLong();
    long elapsed = Math.clamp(now - lookedAtNanos, 0, 2 * periodNanos);
    lookedAtNanos = now;
    for (var call : calls) {
      call.look(elapsed);
      touched.put(call.silence().contact(), call.instance());
    }
    touched.forEach(
        (contact, instance) -> {
          var probe = contact.lookEnds(elapsed);
          if (probe != null) {
            send(probe, instance);
          }
        });
    touched.clear();
    Set<String> lost = Set.of(); // addresses; one log line each is enough
    for (var call : calls) {
      var cause = call.judge();
      if (cause != null) {
        lost = lost.isEmpty() ? new HashSet<>() : lost;
        if (lost.add(address(call.instance()))) {
          LOG.log(
              System.Logger.Level.WARNING,
              "calls to worker {0} are given up: {1}",
              address(call.instance()),
              cause.getMessage());
        }
      }
    }
  }

  private void send(WorkerContact.Probe probe, Instance instance) {
    try {
      sender.accept(probe(instance), new Answer(probe));
    } catch (WorkerLostException e) { // its address cannot be parsed: its calls failed for that
      probe.neverSent();
    }
  }

  private static OutgoingRequest probe(Instance instance) {
    return new OutgoingRequest(
        instance.transport() instanceof TransportAddress.Http2 http2
            ? new TransportAddress.Http2(http2.secure(), http2.address(), PROBED_ENDPOINT)
            : instance.transport(),
        Map.of(),
        switch (instance.transport()) {
          case TransportAddress.Tcp _ ->
              new RequestFrame(
                  (instance.id().hex() + PROBED_ENDPOINT).getBytes(StandardCharsets.UTF_8),
                  NO_FIELDS,
                  NO_FIELDS,
                  NOTHING);
          case TransportAddress.Nats _, TransportAddress.Http2 _ ->
              RequestFrame.ofPayload(NO_FIELDS, NOTHING);
          case TransportAddress.Several several -> throw several.unchosen();
        });
  }

  /** Receives the outcome of a probe. */
  private record Answer(WorkerContact.Probe probe) implements RequestConnection.Outcome {
    @Override
    public void acknowledged() {
      probe.answered();
    }

    @Override
    public void refused(DynamoException refusal) {
      probe.answered();
    }

    @Override
    public void failed(DynamoException cause) {
      if (cause instanceof OverloadedException) {
        probe.neverSent(); // refused by this process, not by the worker
      } else {
        probe.failed();
      }
    }
  }
}
