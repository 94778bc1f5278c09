package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.inference.BodyTask;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.TaskOutput;
import io.dynamo.inference.tensor.TensorRequest;
import io.dynamo.inference.tensor.TensorResponse;
import io.dynamo.request.RequestContext;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.generate.BodyTaskCodec;
import io.dynamo.wire.generate.EmbeddingCodec;
import io.dynamo.wire.generate.TensorCodec;
import java.util.concurrent.Flow;

/** Calls workers on the runtime's request plane. */
public final class PlaneWorkerCalls implements WorkerCalls, EmbeddingCalls, TaskCalls, TensorCalls {
  private static final EmbeddingCodec EMBEDDINGS = new EmbeddingCodec();
  private static final BodyTaskCodec TASKS = new BodyTaskCodec();
  private static final TensorCodec TENSORS = new TensorCodec();

  private final DynamoRuntime runtime;
  private final MessageCodec<GenerateRequest, EngineOutput> codec;

  public PlaneWorkerCalls(
      DynamoRuntime runtime, MessageCodec<GenerateRequest, EngineOutput> codec) {
    this.runtime = runtime;
    this.codec = codec;
  }

  @Override
  public Flow.Publisher<EngineOutput> call(
      Instance instance, GenerateRequest request, RequestContext context) {
    return runtime.client().call(instance, request, codec, context);
  }

  @Override
  public Flow.Publisher<EmbeddingOutput> call(
      Instance instance, EmbeddingRequest request, RequestContext context) {
    return runtime.client().call(instance, request, EMBEDDINGS, context);
  }

  @Override
  public Flow.Publisher<TaskOutput> call(
      Instance instance, BodyTask request, RequestContext context) {
    return runtime.client().call(instance, request, TASKS, context);
  }

  @Override
  public Flow.Publisher<TensorResponse> call(
      Instance instance, TensorRequest request, RequestContext context) {
    return runtime.client().call(instance, request, TENSORS, context);
  }

  @Override
  public void setAside(EndpointId endpoint, InstanceId worker) {
    runtime.instances(endpoint).inhibit(worker);
  }
}
