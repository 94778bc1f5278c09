package io.dynamo.runtime.wiring;

import java.io.IOException;

/**
 * A program that waits to be ended. Its last action is over when it has read a line; {@code server}
 * stands for a server that begins to stop as the JVM ends.
 */
final class EndingProcess {
  private EndingProcess() {}

  /**
   * @param arguments {@code closed}: the action is not to run
   */
  public static void main(String[] arguments) throws InterruptedException {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("server stops")));
    var registration = ShutdownSignal.ofJvm().onSignal(EndingProcess::act);
    if (arguments.length > 0) {
      registration.close();
    }
    System.out.println("started");
    Thread.sleep(60_000);
  }

  private static void act() {
    System.out.println("action begins");
    try {
      System.in.read();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    System.out.println("action ends");
  }
}
