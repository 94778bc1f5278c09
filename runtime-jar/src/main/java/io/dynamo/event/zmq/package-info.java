/**
 * The event plane over ZeroMQ, as Dynamo speaks it: a publisher is bound, announced in discovery,
 * and connected to by each subscription that hears it. Start at {@link
 * io.dynamo.event.zmq.ZmqEventPlane}.
 *
 * <p>Each publisher and each subscription belongs to one event loop, where nothing blocks: whoever
 * publishes fills a bounded queue; whoever listens drains one.
 *
 * <p>There is no peer authentication on this wire: it is for loopback and for closed networks.
 */
@NullMarked
package io.dynamo.event.zmq;

import org.jspecify.annotations.NullMarked;
