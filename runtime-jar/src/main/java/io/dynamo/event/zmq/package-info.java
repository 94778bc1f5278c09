/**
 * The event plane over ZeroMQ, as Dynamo speaks it: a PUB socket per publisher, announced in
 * discovery, and a SUB socket per publisher that a subscription hears. Start at {@link
 * io.dynamo.event.zmq.ZmqEventPlane}.
 *
 * <p>Sockets belong to two threads, one for all publishers and one for all subscriptions, and no
 * other thread calls the library: its sockets are for one thread, an interrupt of a thread inside
 * it closes its pipes, and it leaves thread locals behind. Whoever publishes fills a bounded queue;
 * whoever listens drains one.
 *
 * <p>There is no peer authentication on this wire, and a registered peer that never ends a
 * multipart message can fill memory: it is for loopback and for closed networks.
 */
@NullMarked
package io.dynamo.event.zmq;

import org.jspecify.annotations.NullMarked;
