package io.dynamo.frontend.grpc;

import java.util.List;
import java.util.logging.Logger;

/**
 * Keeps from the log what grpc-java writes about itself, and about faults of clients: a warning and
 * a stack for each, with which any client could fill it.
 */
final class GrpcLogs {
  /** Held here: the log manager forgets loggers that nobody holds, and their filters. */
  private static final List<Logger> TALKATIVE =
      List.of(
          Logger.getLogger("io.grpc.netty.TcpMetrics"),
          Logger.getLogger("io.grpc.netty.NettyServerHandler"),
          Logger.getLogger("io.grpc.netty.NettyServerStream"),
          Logger.getLogger("io.grpc.netty.NettyServerTransport.connections"),
          Logger.getLogger("io.grpc.internal.ServerCallImpl"),
          Logger.getLogger("io.grpc.internal.AbstractServerStream"));

  private GrpcLogs() {}

  static void quieten() {
    for (var logger : TALKATIVE) {
      logger.setFilter(_ -> false);
    }
  }

  /** Lets go of the loggers, which outlive the application. */
  static void release() {
    for (var logger : TALKATIVE) {
      logger.setFilter(null);
    }
  }
}
