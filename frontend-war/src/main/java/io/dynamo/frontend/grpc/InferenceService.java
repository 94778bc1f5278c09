package io.dynamo.frontend.grpc;

import io.dynamo.frontend.kserve.InferCalls;
import io.dynamo.frontend.kserve.LookupMessages;
import io.dynamo.frontend.kserve.ModelDirectory;
import io.dynamo.frontend.kserve.ServerDescription;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** The methods of KServe's gRPC service, and what answers each. */
final class InferenceService {
  static final String NAME = "inference.GRPCInferenceService";

  /**
   * The type of methods with one answer: with the same bytes, but the answer leaves at once, where
   * that of a unary method waits in memory for its status.
   */
  static final MethodType ONE_ANSWER = MethodType.SERVER_STREAMING;

  private final ServerServiceDefinition.Builder definition = ServerServiceDefinition.builder(NAME);
  private final LookupHandler.Means means;

  private InferenceService(LookupHandler.Means means) {
    this.means = means;
  }

  /**
   * Defines the service.
   *
   * @param open whether requests are let in
   */
  static ServerServiceDefinition of(
      InferCalls calls, ModelDirectory models, BooleanSupplier open, LookupHandler.Means means) {
    var service = new InferenceService(means);
    lookups(service, models, open);
    service.add(
        "ModelInfer", ONE_ANSWER, new InferHandler(calls, means.patience(), means.timer(), false));
    service.add(
        "ModelStreamInfer",
        MethodType.BIDI_STREAMING,
        new InferHandler(calls, means.patience(), means.timer(), true));
    return service.definition.build();
  }

  private static void lookups(
      InferenceService service, ModelDirectory models, BooleanSupplier open) {
    service.lookup("ServerLive", _ -> LookupMessages.flag(true));
    service.lookup(
        "ServerReady", _ -> LookupMessages.flag(open.getAsBoolean() && models.isServerReady()));
    service.lookup(
        "ModelReady",
        request ->
            LookupMessages.flag(
                open.getAsBoolean() && models.isReady(LookupMessages.model(request))));
    service.lookup("ServerMetadata", _ -> LookupMessages.serverMetadata(ServerDescription.OURS));
    service.lookup(
        "ModelMetadata",
        request -> LookupMessages.modelMetadata(models.describe(LookupMessages.model(request))));
    service.lookup(
        "ModelConfig",
        request -> LookupMessages.modelConfig(models.describe(LookupMessages.model(request))));
    service.lookup("RepositoryIndex", _ -> LookupMessages.repositoryIndex(models.names()));
  }

  private void lookup(String method, UnaryOperator<byte[]> lookup) {
    add(method, ONE_ANSWER, new LookupHandler(lookup, means));
  }

  private void add(String method, MethodType type, ServerCallHandler<byte[], byte[]> handler) {
    definition.addMethod(
        MethodDescriptor.<byte[], byte[]>newBuilder(MessageBytes.INSTANCE, MessageBytes.INSTANCE)
            .setType(type)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(NAME, method))
            .build(),
        handler);
  }
}
