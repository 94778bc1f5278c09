package io.dynamo.frontend.grpc;

import io.dynamo.frontend.kserve.LookupMessages;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import java.util.function.BooleanSupplier;

/** gRPC's own health service, which Kubernetes and proxies probe: its method {@code Check}. */
final class HealthService {
  private static final String NAME = "grpc.health.v1.Health";

  private HealthService() {}

  /**
   * Defines the service.
   *
   * @param ready whether a model can be asked
   */
  static ServerServiceDefinition of(BooleanSupplier ready, LookupHandler.Means means) {
    return ServerServiceDefinition.builder(NAME)
        .addMethod(
            MethodDescriptor.<byte[], byte[]>newBuilder(
                    MessageBytes.INSTANCE, MessageBytes.INSTANCE)
                .setType(InferenceService.ONE_ANSWER)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(NAME, "Check"))
                .build(),
            new LookupHandler(request -> check(request, ready), means))
        .build();
  }

  private static byte[] check(byte[] request, BooleanSupplier ready) {
    var service = LookupMessages.model(request).name(); // its first field is a name, too
    if (!service.isEmpty() && !service.equals(InferenceService.NAME) && !service.equals(NAME)) {
      throw LookupMessages.unknownService(service);
    }
    return LookupMessages.health(ready.getAsBoolean());
  }
}
