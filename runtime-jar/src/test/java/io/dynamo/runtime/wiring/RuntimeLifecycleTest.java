package io.dynamo.runtime.wiring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.Settings;
import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.memory.MemoryDiscovery;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.event.EventPlane;
import io.dynamo.event.RawStreams;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.EndpointServer;
import io.dynamo.runtime.ClosingStack;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.Planes;
import io.dynamo.runtime.RoleLifecycle;
import io.dynamo.testing.TestSettings;
import io.dynamo.testing.TestStatus;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.RegionExchange;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RuntimeLifecycleTest {
  /** Never closed: closing takes seconds, and its thread is a daemon. */
  private static final EventLoops LOOPS = new EventLoops(1);

  private static final Duration LAST_WORDS = Duration.ofSeconds(3);

  private final List<String> log = new CopyOnWriteArrayList<>();
  private final List<Deadline> deadlines = new CopyOnWriteArrayList<>();
  private final List<Runnable> atShutdown = new CopyOnWriteArrayList<>();
  private final RuntimeLifecycle lifecycle =
      new RuntimeLifecycle(
          TestSettings::defaults, this::open, LAST_WORDS, this::onSignal, failedStart());

  /** Logs the end of the process, which goes on. */
  private FailedStart failedStart() {
    return new FailedStart(
        _ -> List.of("the origins"), (page, status) -> log.add("ended with " + status + page));
  }

  private Cancellation.Registration onSignal(Runnable action) {
    atShutdown.add(action);
    return () -> atShutdown.remove(action);
  }

  private DynamoRuntime open(Settings settings, ClosingStack opened) {
    opened.push("first", () -> log.add("first closed"));
    var discovery =
        opened.push("discovery", new MemoryDiscovery(new MemoryStore(), new InstanceId(1)));
    opened.push("second", () -> log.add("second closed"));
    return new DynamoRuntime(
        settings,
        new Metrics(),
        discovery,
        new Planes(
            LOOPS,
            uncalled(EndpointClient.class),
            uncalled(EndpointServer.class),
            uncalled(EventPlane.class),
            uncalled(RawStreams.class),
            uncalled(RegionExchange.class)),
        uncalled(HostMemory.class),
        TestStatus.idle(),
        uncalled(ExecutorService.class),
        uncalled(ScheduledExecutorService.class));
  }

  /** A part that no test here calls. */
  private static <T> T uncalled(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, _) -> {
              throw new AssertionError(method + " was called");
            }));
  }

  private RoleLifecycle role(String name, boolean fails) {
    return new RoleLifecycle() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public void stop(Deadline deadline) {
        deadlines.add(deadline);
        log.add(name + (deadline.isExpired() ? " stopped late" : " stopped"));
        if (fails) {
          throw new IllegalStateException("thrown by the test");
        }
      }
    };
  }

  @Test
  void rolesStopInReverseThenThePartsClose() {
    lifecycle.start();
    lifecycle.attach(role("router", false));
    lifecycle.attach(role("worker", true));
    lifecycle.attach(role("frontend", false));

    lifecycle.stop();
    lifecycle.stop();

    assertThat(log)
        .containsExactly(
            "frontend stopped",
            "worker stopped",
            "router stopped",
            "second closed",
            "first closed");
    assertThatThrownBy(lifecycle::runtime).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aDetachedRoleStopsOnce() {
    lifecycle.start();
    var worker = role("worker", false);
    lifecycle.attach(worker);
    lifecycle.detach(worker);
    lifecycle.detach(worker);
    lifecycle.stop();

    assertThat(log).containsExactly("worker stopped", "second closed", "first closed");
  }

  @Test
  void rolesDetachedOneAfterTheOtherShareOneDeadline() {
    lifecycle.start();
    var frontend = role("frontend", false);
    var worker = role("worker", false);
    lifecycle.attach(role("router", false));
    lifecycle.attach(worker);
    lifecycle.attach(frontend);

    lifecycle.detach(frontend);
    lifecycle.detach(worker);
    lifecycle.stop();

    assertThat(log).startsWith("frontend stopped", "worker stopped", "router stopped");
    assertThat(deadlines).hasSize(3).containsOnly(deadlines.getFirst());
  }

  @Test
  void aRoleAttachedAfterAStopHasADeadlineOfItsOwn() {
    lifecycle.start();
    for (int i = 0; i < 2; i++) {
      var worker = role("worker", false);
      lifecycle.attach(worker);
      lifecycle.detach(worker);
    }
    lifecycle.stop();

    assertThat(deadlines).hasSize(2).doesNotHaveDuplicates();
  }

  /** Says when it is asked to stop, and stops when it is let. */
  private final class HeldRole implements RoleLifecycle {
    final CountDownLatch asked = new CountDownLatch(1);
    final CountDownLatch released = new CountDownLatch(1);

    @Override
    public String name() {
      return "held";
    }

    @Override
    public void stop(Deadline deadline) {
      asked.countDown();
      boolean done = false;
      while (!done) {
        try {
          done = released.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException _) {
          log.add("held interrupted");
        }
      }
      log.add("held stopped");
    }
  }

  @Test
  void aRoleThatIgnoresItsDeadlineHoldsNobodyUp() throws InterruptedException {
    var impatient =
        new RuntimeLifecycle(
            () -> TestSettings.with(Map.of("dynamo.runtime.drain-timeout", "0s")),
            this::open,
            Duration.ofSeconds(2),
            this::onSignal,
            failedStart());
    var held = new HeldRole();
    impatient.start();
    impatient.attach(role("worker", false));
    impatient.attach(held);

    impatient.stop();
    held.released.countDown();

    assertThat(log)
        .containsSubsequence("worker stopped late", "second closed", "first closed")
        .doesNotContain("worker stopped");
    assertThat(held.asked.await(20, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void theRuntimeIsThereWhileItsRolesStop() throws InterruptedException {
    var held = new HeldRole();
    lifecycle.start();
    lifecycle.attach(held);
    var stopping = Thread.ofVirtual().start(lifecycle::stop);
    assertThat(held.asked.await(20, TimeUnit.SECONDS)).isTrue();

    assertThat(lifecycle.runtime()).isNotNull();

    held.released.countDown();
    assertThat(stopping.join(Duration.ofSeconds(20))).isTrue();
    assertThat(log).containsExactly("held stopped", "second closed", "first closed");
  }

  @Test
  void aStopWaitsForADetachInFlight() throws InterruptedException {
    var held = new HeldRole();
    lifecycle.start();
    lifecycle.attach(held);
    var detaching = Thread.ofVirtual().start(() -> lifecycle.detach(held));
    assertThat(held.asked.await(20, TimeUnit.SECONDS)).isTrue();
    var stopping = Thread.ofVirtual().start(lifecycle::stop);

    assertThat(stopping.join(Duration.ofMillis(200))).isFalse();
    assertThat(log).isEmpty();
    held.released.countDown();

    assertThat(stopping.join(Duration.ofSeconds(20))).isTrue();
    assertThat(detaching.join(Duration.ofSeconds(20))).isTrue();
    assertThat(log).containsExactly("held stopped", "second closed", "first closed");
  }

  /** The server waits for open requests before it stops the application. */
  @Test
  void theSignalThatEndsTheProcessStopsTheRolesAndLeavesThePlanes() {
    lifecycle.start();
    lifecycle.attach(role("worker", false));
    lifecycle.attach(role("frontend", false));

    atShutdown.forEach(Runnable::run);

    assertThat(log).containsExactly("frontend stopped", "worker stopped");
    assertThat(lifecycle.runtime()).isNotNull();
    lifecycle.stop();
    assertThat(log).endsWith("worker stopped", "second closed", "first closed");
  }

  @Test
  void aStoppedRuntimeHearsNoSignal() {
    lifecycle.start();
    assertThat(atShutdown).hasSize(1);

    lifecycle.stop();

    assertThat(atShutdown).isEmpty();
  }

  private RuntimeLifecycle failing(RuntimeException failure) {
    return new RuntimeLifecycle(
        TestSettings::defaults,
        (settings, opened) -> {
          open(settings, opened);
          throw failure;
        },
        LAST_WORDS,
        this::onSignal,
        failedStart());
  }

  @Test
  void aFailedStartClosesWhatWasOpenedAndEndsTheProcess() {
    var failing = failing(new IllegalStateException("no room", new IOException("on the disk")));

    assertThatThrownBy(failing::start).hasMessage("no room");

    assertThat(log).hasSize(3).startsWith("second closed", "first closed");
    assertThat(log.getLast())
        .startsWith("ended with 1")
        .contains(
            "The server does not start: no room: on the disk; logs/messages.log", "the origins")
        .contains("ends with status 1");
    assertThatThrownBy(failing::runtime).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void refusedSettingsEndTheProcessWithAStatusOfTheirOwn() {
    var refused = new InvalidSettingsException(List.of("dynamo.a is bad", "dynamo.b is bad"));
    var failing = failing(new IllegalStateException("while it was opened", refused));

    assertThatThrownBy(failing::start).hasRootCause(refused);

    assertThat(log.getLast())
        .startsWith("ended with 78")
        .contains("does not start: 2 bad settings", "dynamo.a is bad", "dynamo.b is bad")
        .doesNotContain("while it was opened");
  }

  @Test
  void aRoleThatDoesNotStartEndsTheProcessAndThoseBeforeIt() {
    lifecycle.start();
    lifecycle.attach(role("router", false));

    assertThatThrownBy(
            () ->
                lifecycle.during(
                    () -> {
                      throw new IllegalArgumentException("no such model");
                    }))
        .hasMessage("no such model");

    assertThat(log).startsWith("router stopped", "second closed", "first closed");
    assertThat(log.getLast()).startsWith("ended with 1").contains("no such model");
  }

  @Test
  void theFirstFailureIsReportedAndNotWhatFollowsFromIt() {
    lifecycle.start();
    lifecycle.attach(
        new RoleLifecycle() {
          @Override
          public String name() {
            return "worker";
          }

          @Override
          public void stop(Deadline deadline) {
            assertThatThrownBy(() -> lifecycle.during(() -> fail("discovery is closed")))
                .hasMessage("discovery is closed");
          }
        });

    assertThatThrownBy(() -> lifecycle.during(() -> fail("no such model")))
        .hasMessage("no such model");

    assertThat(log.stream().filter(line -> line.startsWith("ended with")))
        .singleElement()
        .asString()
        .contains("no such model");
  }

  private static void fail(String message) {
    throw new IllegalArgumentException(message);
  }

  @Test
  void aSecondStartKeepsTheRuntime() {
    lifecycle.start();
    var runtime = lifecycle.runtime();
    lifecycle.start();

    assertThat(lifecycle.runtime()).isSameAs(runtime);
    lifecycle.stop();
  }
}
