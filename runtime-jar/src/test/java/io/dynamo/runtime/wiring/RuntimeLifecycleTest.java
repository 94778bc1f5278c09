package io.dynamo.runtime.wiring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.Settings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.memory.MemoryDiscovery;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.event.EventPlane;
import io.dynamo.metrics.Metrics;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.EndpointServer;
import io.dynamo.runtime.ClosingStack;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.RoleLifecycle;
import io.dynamo.testing.TestSettings;
import io.dynamo.transfer.HostMemory;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.Test;

class RuntimeLifecycleTest {
  private final List<String> log = new CopyOnWriteArrayList<>();
  private final RuntimeLifecycle lifecycle =
      new RuntimeLifecycle(TestSettings::defaults, this::open);

  private DynamoRuntime open(Settings settings, ClosingStack opened) {
    opened.push("first", () -> log.add("first closed"));
    var discovery =
        opened.push("discovery", new MemoryDiscovery(new MemoryStore(), new InstanceId(1)));
    opened.push("second", () -> log.add("second closed"));
    return new DynamoRuntime(
        settings,
        new Metrics(),
        discovery,
        uncalled(EndpointClient.class),
        uncalled(EndpointServer.class),
        uncalled(EventPlane.class),
        uncalled(HostMemory.class),
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
        log.add(name + " stopped");
        assertThat(deadline.isExpired()).isFalse();
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
  void aFailedStartClosesWhatWasOpened() {
    var failing =
        new RuntimeLifecycle(
            TestSettings::defaults,
            (settings, opened) -> {
              open(settings, opened);
              throw new IllegalStateException("thrown by the test");
            });

    assertThatThrownBy(failing::start).hasMessage("thrown by the test");

    assertThat(log).containsExactly("second closed", "first closed");
    assertThatThrownBy(failing::runtime).isInstanceOf(IllegalStateException.class);
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
