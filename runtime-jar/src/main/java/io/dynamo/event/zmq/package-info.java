/**
 * The event plane over ZeroMQ, as Dynamo speaks it: a publisher is bound and announced in
 * discovery, and each subscription to its subject connects to it. Start at {@link
 * io.dynamo.event.zmq.ZmqEventPlane}.
 *
 * <p>Each publisher and each subscription belongs to one event loop, where nothing blocks:
 * publishing threads fill a bounded queue; listeners drain one.
 *
 * <p>There is no peer authentication on this wire: it is for loopback and for closed networks.
 */
@NullMarked
package io.dynamo.event.zmq;

import org.jspecify.annotations.NullMarked;
