package io.dynamo.frontend.grpc;

import io.dynamo.frontend.kserve.InferCalls;
import io.dynamo.frontend.kserve.LookupMessages;
import io.dynamo.frontend.kserve.ModelDirectory;
import io.dynamo.frontend.kserve.ServerDescription;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.util.Map;
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

  private static final String WORKERS =
      "models come and go with their workers; start or stop workers of this one instead";

  private static final String SHARED_MEMORY =
      "this server maps no memory of its clients; send the contents of tensors in the messages";

  /** The methods of Triton's service that are not served, and why. */
  private static final Map<String, String> UNSERVED =
      Map.ofEntries(
          Map.entry("RepositoryModelLoad", WORKERS),
          Map.entry("RepositoryModelUnload", WORKERS),
          Map.entry("SystemSharedMemoryStatus", SHARED_MEMORY),
          Map.entry("SystemSharedMemoryRegister", SHARED_MEMORY),
          Map.entry("SystemSharedMemoryUnregister", SHARED_MEMORY),
          Map.entry("CudaSharedMemoryStatus", SHARED_MEMORY),
          Map.entry("CudaSharedMemoryRegister", SHARED_MEMORY),
          Map.entry("CudaSharedMemoryUnregister", SHARED_MEMORY),
          Map.entry(
              "TraceSetting",
              "clients cannot change traces; the server's settings dynamo.trace.* say where they go"),
          Map.entry(
              "LogSettings", "clients cannot change the log; the server's configuration sets it"));

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
    UNSERVED.forEach((method, why) -> service.add(method, ONE_ANSWER, refusing(why)));
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
    service.lookup(
        "ModelStatistics",
        request ->
            LookupMessages.modelStatistics(models.statistics(LookupMessages.model(request))));
    service.lookup(
        "RepositoryIndex",
        request -> LookupMessages.repositoryIndex(models.list(LookupMessages.readyOnly(request))));
  }

  /** Refuses calls before their request has come. */
  private static ServerCallHandler<byte[], byte[]> refusing(String why) {
    return (call, _) -> {
      call.close(Status.UNIMPLEMENTED.withDescription(why), new Metadata());
      return new ServerCall.Listener<>() {};
    };
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
