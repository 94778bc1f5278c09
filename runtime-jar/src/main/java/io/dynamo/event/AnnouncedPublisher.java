package io.dynamo.event;

import io.dynamo.discovery.Discovery;

/**
 * A publisher as subscribers know it.
 *
 * @param id in every envelope of the publisher
 * @param record announces the publisher in discovery; closed with it
 */
public record AnnouncedPublisher(EventSubject subject, long id, Discovery.Handle record) {}
