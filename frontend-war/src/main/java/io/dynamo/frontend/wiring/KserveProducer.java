package io.dynamo.frontend.wiring;

import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.grpc.GrpcPort;
import io.dynamo.frontend.kserve.ModelDirectory;
import io.dynamo.frontend.openai.KserveCalls;
import io.dynamo.frontend.openai.TextService;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Produces the parts of KServe's protocol. */
@ApplicationScoped
public class KserveProducer {
  @Produces
  @Singleton
  public ModelDirectory directory(ModelCatalog catalog) {
    return new ModelDirectory(catalog);
  }

  /** Produces the gRPC port, which the role opens. */
  @Produces
  @Singleton
  public GrpcPort grpcPort(
      DynamoRuntime runtime,
      RequestAdmission admission,
      ModelDirectory models,
      TextService service) {
    return new GrpcPort(runtime, admission, models, new KserveCalls(service, models));
  }
}
