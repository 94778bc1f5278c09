package io.dynamo.request.load;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.plane.AdmissionSettings;
import io.dynamo.config.plane.PoolSettings;
import io.dynamo.config.plane.SilenceSettings;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.config.plane.TcpTimeouts;
import io.dynamo.config.plane.TlsSettings;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.file.FileDiscovery;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.RequestContext;
import io.dynamo.request.tcp.TcpEndpointClient;
import io.dynamo.wire.generate.GenerateCodec;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.LongAdder;

/** A worker and a client of ours, each in a process of its own. */
final class OurPlane {
  static final Duration PATIENCE = Duration.ofSeconds(30);
  static final int WINDOW = 64; // the default of dynamo.request.tcp.stream-buffer

  static TcpSettings settings() {
    var clear =
        new TlsSettings(null, null, null, false, null, Duration.ofSeconds(3), null, null, null);
    var timeouts = new TcpTimeouts(PATIENCE, PATIENCE, PATIENCE, PATIENCE, Duration.ZERO, PATIENCE);
    var silence =
        new SilenceSettings(
            Duration.ofSeconds(3),
            Duration.ofSeconds(2),
            PATIENCE,
            Duration.ZERO,
            Duration.ofSeconds(5));
    return new TcpSettings(
        "127.0.0.1",
        "127.0.0.1",
        0,
        0,
        32 << 20,
        256 << 20,
        65536,
        new PoolSettings(8, Duration.ofMinutes(5), 64, true),
        WINDOW,
        PayloadFormat.MSGPACK,
        timeouts,
        silence,
        new AdmissionSettings(10_000, 40_000),
        clear);
  }

  static FileDiscovery discovery(Path store, long id) {
    return new FileDiscovery(
        store, Duration.ofSeconds(10), new InstanceId(id), InstantSource.system());
  }

  static void worker(Path store, String nats) throws Exception {
    var id = new InstanceId(1);
    try (var bench = new BenchPlane(nats);
        var discovery = discovery(store, 1)) {
      for (var plane : bench.planes()) {
        var endpoint = new EndpointId("dynamo", BenchPlane.name(plane), "generate");
        var served =
            bench
                .server(plane)
                .serve(
                    endpoint,
                    id,
                    (GenerateRequest request, RequestContext _) -> tokens(request),
                    new GenerateCodec());
        discovery.register(
            new Instance(endpoint, id, served.address(), "cpu", PayloadFormat.MSGPACK));
      }
      Child.answer(command -> "");
    }
  }

  /** As many items as were asked for, made on the thread that asks. */
  private static Flow.Publisher<EngineOutput> tokens(GenerateRequest request) {
    int items = request.stop().maxTokens();
    return subscriber ->
        subscriber.onSubscribe(
            new Flow.Subscription() {
              private int made;
              private long wanted;
              private boolean emitting;

              @Override
              public void request(long count) {
                wanted += count;
                if (emitting) {
                  return;
                }
                emitting = true;
                while (wanted > 0 && made < items) {
                  wanted--;
                  subscriber.onNext(EngineOutput.ofTokens(1000 + made++));
                }
                emitting = false;
                if (made == items) {
                  made++;
                  subscriber.onComplete();
                }
              }

              @Override
              public void cancel() {
                made = Integer.MAX_VALUE;
              }
            });
  }

  static void client(Path store, String nats) throws Exception {
    var instances = new ConcurrentHashMap<String, Instance>();
    try (var bench = new BenchPlane(nats);
        var discovery = discovery(store, 2);
        var _ =
            discovery.watch(
                Instance.class,
                event -> {
                  if (event instanceof DiscoveryEvent.Added<Instance>(var instance)) {
                    instances.put(instance.endpoint().component(), instance);
                  }
                })) {
      var clients = new HashMap<String, TcpEndpointClient>();
      bench.planes().forEach(plane -> clients.put(BenchPlane.name(plane), bench.client(plane)));
      var codec = new GenerateCodec();
      Child.answer(
          command -> {
            var words = command.split(" "); // run COMPONENT ITEMS STREAMS MILLIS
            var instance = instances.get(words[1]);
            if (instance == null) {
              return "none";
            }
            var client = clients.getOrDefault(words[1], clients.get("tcp"));
            int items = Integer.parseInt(words[2]);
            return Load.run(
                Integer.parseInt(words[3]),
                Integer.parseInt(words[4]),
                (counter, next) ->
                    client
                        .call(
                            instance,
                            request("tiny", items),
                            codec,
                            context(UUID.randomUUID().toString()))
                        .subscribe(new Counting(counter, next)));
          });
    }
  }

  static RequestContext context(String id) {
    return new RequestContext(id, Map.of(), Map.of(), Deadline.after(PATIENCE), new Cancellation());
  }

  static GenerateRequest request(String model, int items) {
    return new GenerateRequest(
        model,
        new int[] {2, 3016, 203},
        new StopConditions(items, List.of(), List.of(3), null, false),
        SamplingOptions.DEFAULTS,
        OutputOptions.DEFAULTS,
        new int[] {3},
        null,
        List.of(),
        RoutingHints.NONE,
        Map.of());
  }

  private static final class Counting implements Flow.Subscriber<EngineOutput> {
    private final LongAdder counter;
    private final Load.Next next;

    Counting(LongAdder counter, Load.Next next) {
      this.counter = counter;
      this.next = next;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(EngineOutput item) {
      counter.increment();
    }

    @Override
    public void onError(Throwable cause) {
      next.ended(cause);
    }

    @Override
    public void onComplete() {
      next.ended(null);
    }
  }
}
