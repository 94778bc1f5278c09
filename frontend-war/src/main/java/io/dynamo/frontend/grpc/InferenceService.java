package io.dynamo.frontend.grpc;

import io.dynamo.frontend.kserve.InferCalls;
import io.dynamo.frontend.kserve.LookupMessages;
import io.dynamo.frontend.kserve.ModelDirectory;
import io.dynamo.frontend.kserve.ServerDescription;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** The methods of KServe's gRPC service, and what answers each. */
final class InferenceService {
  static final String NAME = "inference.GRPCInferenceService";

  private final ServerServiceDefinition.Builder definition = ServerServiceDefinition.builder(NAME);

  private InferenceService() {}

  /**
   * Defines the service.
   *
   * @param open whether requests are let in
   */
  static ServerServiceDefinition of(
      InferCalls calls,
      ModelDirectory models,
      BooleanSupplier open,
      InferHandler.Patience patience,
      ScheduledExecutorService timer) {
    var service = new InferenceService();
    lookups(service, models, open, patience);
    service.add("ModelInfer", MethodType.UNARY, new InferHandler(calls, patience, timer, false));
    service.add(
        "ModelStreamInfer",
        MethodType.BIDI_STREAMING,
        new InferHandler(calls, patience, timer, true));
    return service.definition.build();
  }

  private static void lookups(
      InferenceService service,
      ModelDirectory models,
      BooleanSupplier open,
      InferHandler.Patience patience) {
    service.lookup("ServerLive", patience, _ -> LookupMessages.flag(true));
    service.lookup(
        "ServerReady",
        patience,
        _ -> LookupMessages.flag(open.getAsBoolean() && models.isServerReady()));
    service.lookup(
        "ModelReady",
        patience,
        request ->
            LookupMessages.flag(
                open.getAsBoolean() && models.isReady(LookupMessages.model(request))));
    service.lookup(
        "ServerMetadata", patience, _ -> LookupMessages.serverMetadata(ServerDescription.OURS));
    service.lookup(
        "ModelMetadata",
        patience,
        request -> LookupMessages.modelMetadata(models.describe(LookupMessages.model(request))));
    service.lookup(
        "ModelConfig",
        patience,
        request -> LookupMessages.modelConfig(models.describe(LookupMessages.model(request))));
    service.lookup(
        "RepositoryIndex", patience, _ -> LookupMessages.repositoryIndex(models.names()));
  }

  private void lookup(String method, InferHandler.Patience patience, UnaryOperator<byte[]> lookup) {
    add(method, MethodType.UNARY, new LookupHandler(lookup, patience.writeStall()));
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
