package io.dynamo.runtime.http;

import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * The facts about the Open Liberty server around the application.
 *
 * @param outputFolder the folder that it writes to
 * @param start identifies this start of the server
 * @param beans where it registers the ports that it has opened
 */
public record Container(Path outputFolder, String start, MBeanServer beans) {
  /**
   * The property with the process's launch time, in nanoseconds of the machine's uptime; set by
   * Liberty.
   */
  private static final String START = "kernel.launch.time"; // as in config/http.xml

  private static final System.Logger LOG = System.getLogger(Container.class.getName());
  private static final String FILES =
      "WebSphere:service=com.ibm.ws.kernel.filemonitor.FileNotificationMBean";
  private static final String COLLECTION = Collection.class.getName();
  private static final String ENDPOINTS =
      "WebSphere:feature=channelfw,type=endpoint,name=defaultHttpEndpoint*";

  /**
   * Returns the container of this process.
   *
   * @throws IllegalStateException when the server does not identify its start
   */
  public static Container of(Path outputFolder) {
    var start = System.getProperty(START);
    if (start == null || !start.matches("-?[0-9]+")) {
      throw new IllegalStateException(
          "the system property %s is \"%s\", but must be the number that Open Liberty gives each start"
              .formatted(START, start));
    }
    return new Container(outputFolder, start, ManagementFactory.getPlatformMBeanServer());
  }

  /**
   * Has the container check the files of {@code folder} now; by itself it does so a little later.
   */
  void announce(Path folder) {
    var files = List.of(folder.resolve(PieceFolder.PIECE).toString());
    try {
      beans.invoke(
          new ObjectName(FILES),
          "notifyFileChanges",
          new Object[] {files, files, List.of()},
          new String[] {COLLECTION, COLLECTION, COLLECTION});
    } catch (JMException e) {
      LOG.log(Level.DEBUG, "the container looks at its files by itself", e);
    }
  }

  /**
   * Whether this server has opened {@code port} itself, for an earlier start of the application.
   */
  boolean hasOpened(int port) {
    try {
      for (var endpoint : beans.queryNames(new ObjectName(ENDPOINTS), null)) {
        if (Integer.valueOf(port).equals(beans.getAttribute(endpoint, "Port"))) {
          return true;
        }
      }
      return false;
    } catch (JMException gone) {
      return false; // closed during the check
    }
  }
}
