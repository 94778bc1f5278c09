package io.dynamo.concurrent;

import java.lang.management.ManagementFactory;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * The carriers of the JVM's virtual threads, by its management bean. Safe for concurrent use.
 *
 * @see <a
 *     href="https://docs.oracle.com/en/java/javase/25/docs/api/jdk.management/jdk/management/VirtualThreadSchedulerMXBean.html">VirtualThreadSchedulerMXBean</a>
 */
final class Carriers {
  // by name, as a container need not show the bean's interface to applications
  private static final String NAME = "jdk.management:type=VirtualThreadScheduler";
  private static final String PARALLELISM = "Parallelism";
  private static final String QUEUED = "QueuedVirtualThreadCount";

  private final MBeanServer beans;
  private final ObjectName name;

  private Carriers(MBeanServer beans, ObjectName name) {
    this.beans = beans;
    this.name = name;
  }

  /** Returns the carriers of this JVM; null when it has no such bean. */
  static @Nullable Carriers find() {
    try {
      var carriers = new Carriers(ManagementFactory.getPlatformMBeanServer(), new ObjectName(NAME));
      var _ = carriers.read(PARALLELISM);
      var _ = carriers.read(QUEUED);
      return carriers;
    } catch (JMException | RuntimeException _) {
      return null;
    }
  }

  /** Returns how many virtual threads may run at the same time. */
  int parallelism() throws JMException {
    return Math.toIntExact(read(PARALLELISM));
  }

  /** Lets {@code parallelism} virtual threads run at the same time. */
  void setParallelism(int parallelism) throws JMException {
    beans.setAttribute(name, new Attribute(PARALLELISM, parallelism));
  }

  /** Returns about how many virtual threads wait for a carrier. */
  long queued() throws JMException {
    return read(QUEUED);
  }

  private long read(String attribute) throws JMException {
    return ((Number) beans.getAttribute(name, attribute)).longValue();
  }
}
