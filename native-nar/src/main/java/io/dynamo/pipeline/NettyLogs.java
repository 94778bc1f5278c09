package io.dynamo.pipeline;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.lang.ref.Reference;

/**
 * Netty's loggers, first asked for by the JDK. A server's log manager keeps a logger by its name,
 * and with it the class that asked first: were that Netty's, the application's class loader would
 * outlive the application.
 */
final class NettyLogs extends InternalLoggerFactory {
  private NettyLogs() {}

  /** To be called before any other class of Netty is touched. */
  static void install() {
    setDefaultFactory(new NettyLogs());
  }

  @Override
  protected InternalLogger newInstance(String name) {
    var first = System.getLogger(name);
    first.isLoggable(System.Logger.Level.ERROR); // it is made at its first use
    try {
      return ((JdkLoggerFactory) JdkLoggerFactory.INSTANCE).newInstance(name);
    } finally {
      Reference.reachabilityFence(first); // the log manager's own reference is weak
    }
  }
}
