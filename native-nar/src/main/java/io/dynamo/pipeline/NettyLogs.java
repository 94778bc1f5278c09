package io.dynamo.pipeline;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.lang.ref.Reference;

/**
 * Creates Netty's loggers, after requesting each from the JDK first. A server's log manager keeps a
 * logger by its name, and with it the class that requested it first: if that were Netty's, the
 * application's class loader would outlive the application.
 */
final class NettyLogs extends InternalLoggerFactory {
  private NettyLogs() {}

  /** Installs this factory; called before any other class of Netty is used. */
  static void install() {
    setDefaultFactory(new NettyLogs());
  }

  @Override
  protected InternalLogger newInstance(String name) {
    var first = System.getLogger(name);
    first.isLoggable(System.Logger.Level.ERROR); // created at its first use
    try {
      return ((JdkLoggerFactory) JdkLoggerFactory.INSTANCE).newInstance(name);
    } finally {
      Reference.reachabilityFence(first); // the log manager's own reference is weak
    }
  }
}
