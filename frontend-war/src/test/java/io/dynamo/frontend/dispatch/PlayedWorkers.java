package io.dynamo.frontend.dispatch;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Usage;
import io.dynamo.request.RequestContext;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteRequest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Three workers, taken in order; each call is played by the test. */
final class PlayedWorkers implements WorkerCalls {
  final List<InstanceId> ids =
      new ArrayList<>(List.of(new InstanceId(1), new InstanceId(2), new InstanceId(3)));
  final Deque<Call> calls = new ArrayDeque<>();
  final List<InstanceId> setAside = new ArrayList<>();
  int closedDecisions;
  Runnable whileRouting = () -> {};

  Call last() {
    return calls.getLast();
  }

  RouteDecision route(RouteRequest request) {
    whileRouting.run();
    var id =
        ids.stream()
            .filter(it -> !request.excluded().contains(it))
            .findFirst()
            .orElseThrow(
                () ->
                    new NoWorkerException(
                        request.endpoint(), ids.size(), request.excluded().size()));
    return new ChosenWorker(request, id, () -> closedDecisions++);
  }

  @Override
  public Flow.Publisher<EngineOutput> call(
      Instance instance, GenerateRequest request, RequestContext context) {
    var call = new Call(instance, request, context);
    calls.add(call);
    return call.stream;
  }

  @Override
  public void setAside(EndpointId endpoint, InstanceId worker) {
    setAside.add(worker);
  }

  /** One leg as a worker plays it. */
  static final class Call {
    final Instance instance;
    final GenerateRequest request;
    final RequestContext context;
    boolean cancelled;
    final ItemStream<EngineOutput> stream = new ItemStream<>(64, () -> {}, () -> cancelled = true);

    Call(Instance instance, GenerateRequest request, RequestContext context) {
      this.instance = instance;
      this.request = request;
      this.context = context;
    }

    Call say(int... tokens) {
      for (int token : tokens) {
        stream.offer(EngineOutput.ofTokens(token));
      }
      return this;
    }

    Call emit(EngineOutput item) {
      stream.offer(item);
      return this;
    }

    void finish(FinishReason reason, @Nullable Usage usage) {
      stream.offer(EngineOutput.finish(reason, usage));
      stream.complete();
    }

    void end() {
      stream.complete();
    }

    void lose() {
      fail(new WorkerLostException(ErrorCode.DISCONNECTED, "reset by peer"));
    }

    void fail(DynamoException cause) {
      stream.fail(cause);
    }
  }
}
