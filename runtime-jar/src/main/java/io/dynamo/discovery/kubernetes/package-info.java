/**
 * Discovery in Kubernetes: each process keeps one {@code DynamoWorkerMetadata} object with all its
 * records, which others see while its pod is ready.
 */
@NullMarked
package io.dynamo.discovery.kubernetes;

import org.jspecify.annotations.NullMarked;
