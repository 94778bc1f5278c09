package io.dynamo.config.plane;

import java.util.ArrayList;
import java.util.List;

/**
 * The ZeroMQ brokers that events go through.
 *
 * @param xsub addresses that publishers connect to, all of them
 * @param xpub addresses that subscribers connect to, all of them
 */
public record ZmqBroker(List<String> xsub, List<String> xpub) {
  private static final String FORM = "is not xsub=tcp://host:port, xpub=tcp://host:port";

  public ZmqBroker {
    xsub = List.copyOf(xsub);
    xpub = List.copyOf(xpub);
  }

  /**
   * Parses Dynamo's form: {@code xsub=<url>[;<url>…] , xpub=<url>[;<url>…]}.
   *
   * @throws IllegalArgumentException when it has another form
   */
  static ZmqBroker parse(String text) {
    List<String> xsub = List.of();
    List<String> xpub = List.of();
    for (var part : text.split(",", -1)) {
      var pair = part.strip().split("=", 2);
      switch (pair[0].strip()) {
        case "xsub" -> xsub = addresses(pair);
        case "xpub" -> xpub = addresses(pair);
        default -> throw new IllegalArgumentException(FORM);
      }
    }
    if (xsub.isEmpty() || xpub.isEmpty()) {
      throw new IllegalArgumentException(FORM);
    }
    return new ZmqBroker(xsub, xpub);
  }

  private static List<String> addresses(String[] pair) {
    var addresses = new ArrayList<String>();
    for (var address : pair.length < 2 ? new String[0] : pair[1].split(";", -1)) {
      var stripped = address.strip();
      if (!stripped.matches("tcp://[^\\s/]+:[0-9]{1,5}")) {
        throw new IllegalArgumentException(FORM);
      }
      addresses.add(stripped);
    }
    return addresses;
  }

  @Override
  public String toString() {
    return "xsub=" + String.join(";", xsub) + ",xpub=" + String.join(";", xpub);
  }
}
