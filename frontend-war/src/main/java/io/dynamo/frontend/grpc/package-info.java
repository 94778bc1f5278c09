/**
 * The gRPC port: KServe's {@code inference.GRPCInferenceService} on grpc-java. Start at {@link
 * io.dynamo.frontend.grpc.GrpcPort}.
 */
@NullMarked
package io.dynamo.frontend.grpc;

import org.jspecify.annotations.NullMarked;
