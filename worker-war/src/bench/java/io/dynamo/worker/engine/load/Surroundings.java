package io.dynamo.worker.engine.load;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.RequestContext;
import io.dynamo.request.tcp.TcpEndpointClient;
import io.dynamo.wire.generate.GenerateCodec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.LongAdder;

/**
 * The process around the worker: the engine's server before it, and requesters behind it, each of
 * which asks again when its answer has ended.
 */
final class Surroundings {
  private static final int PROMPT = 10; // tokens

  private final LongAdder tokens = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final int tokensPerAnswer;

  private Surroundings(int tokensPerAnswer) {
    this.tokensPerAnswer = tokensPerAnswer;
  }

  /** Serves until its standard input ends: {@code send STREAMS ADDRESS PATH} and {@code count}. */
  static void run(int millis, int tokensPerAnswer) throws IOException {
    var here = new Surroundings(tokensPerAnswer);
    try (var engine = new ReplayEngine(millis);
        var loops = new EventLoops(1);
        var client = new TcpEndpointClient(PlaneSettings.tcp(), loops, new Metrics());
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      System.out.println(engine.port());
      for (var line = in.readLine(); line != null; line = in.readLine()) {
        var words = line.split(" ");
        if (words[0].equals("count")) {
          System.out.println(here.tokens.sum() + " " + here.failures.sum());
          continue;
        }
        var worker =
            new Instance(
                PlaneSettings.ENDPOINT,
                new InstanceId(1),
                new TransportAddress.Tcp(words[2], words[3]),
                "cpu",
                PayloadFormat.MSGPACK);
        for (int i = 0; i < Integer.parseInt(words[1]); i++) {
          here.ask(client, worker);
        }
      }
    }
  }

  private void ask(TcpEndpointClient client, Instance worker) {
    var context =
        new RequestContext(
            UUID.randomUUID().toString(),
            Map.of(),
            Map.of(),
            Deadline.after(Duration.ofMinutes(1)),
            new Cancellation());
    client
        .call(worker, request(), new GenerateCodec(), context)
        .subscribe(
            new Flow.Subscriber<EngineOutput>() {
              @Override
              public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
              }

              @Override
              public void onNext(EngineOutput item) {
                tokens.add(item.tokenIds().length);
              }

              @Override
              public void onError(Throwable cause) {
                if (failures.sum() == 0) {
                  System.err.println("a request failed: " + cause);
                }
                failures.increment();
                ask(client, worker);
              }

              @Override
              public void onComplete() {
                ask(client, worker);
              }
            });
  }

  private GenerateRequest request() {
    return new GenerateRequest(
        "tiny",
        new int[PROMPT],
        new StopConditions(tokensPerAnswer, List.of(), List.of(), null, true),
        SamplingOptions.DEFAULTS,
        OutputOptions.DEFAULTS,
        new int[0],
        null,
        List.of(),
        RoutingHints.NONE,
        Map.of());
  }
}
