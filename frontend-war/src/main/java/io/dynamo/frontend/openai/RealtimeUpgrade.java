package io.dynamo.frontend.openai;

import io.dynamo.frontend.UpgradedConnection;
import jakarta.servlet.http.HttpUpgradeHandler;
import jakarta.servlet.http.WebConnection;
import java.io.IOException;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** Takes over the connection of a realtime session. Made by the container, then prepared. */
public class RealtimeUpgrade implements HttpUpgradeHandler {
  private static final System.Logger LOG = System.getLogger(RealtimeUpgrade.class.getName());

  private volatile @Nullable RealtimeService service;
  private volatile @Nullable RealtimeSession session;

  /** Sets the session that the connection is for. */
  void prepare(RealtimeService of, RealtimeSession admitted) {
    service = of;
    session = admitted;
  }

  @Override
  public void init(WebConnection connection) {
    var of = service;
    var admitted = session;
    if (of == null || admitted == null) {
      return; // the container ends the connection
    }
    try {
      var taken = UpgradedConnection.take(connection);
      of.start(admitted, new RealtimeSession.Socket(taken.input(), taken.output(), taken::close));
    } catch (IOException e) {
      LOG.log(Level.WARNING, "a connection did not become a socket", e);
      admitted.giveUp();
    }
  }

  @Override
  public void destroy() {
    // the session ends its connection itself
  }
}
