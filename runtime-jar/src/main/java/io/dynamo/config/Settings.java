package io.dynamo.config;

/** All settings of a server, read and checked once at its start; one record per area. */
public record Settings(
    ServerSettings server,
    DiscoverySettings discovery,
    TcpSettings tcp,
    EventSettings event,
    RouterSettings router,
    FrontendSettings frontend,
    WorkerSettings worker,
    StatusSettings status,
    WatchSettings watch) {}
