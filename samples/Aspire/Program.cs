using Snapper.Samples.Aspire;

// One worker with its sidecar, its Redis, and both dashboards: Aspire's shows processes, logs and traces, Snapper's
// shows actors and transactions. Everything listens on loopback, at the ports of './snapper up'.
const int Redis = 6390;
const int Placement = 50105;
const int Worker = 5101;
const int App = 5111;
const int Sidecar = 3500;
const int Dashboard = 8080;

var builder = DistributedApplication.CreateBuilder(args);
var data = Directory.CreateDirectory(Path.Combine(builder.AppHostDirectory, ".snapper")).FullName;
var components = Path.GetFullPath(Path.Combine(builder.AppHostDirectory, "../../components"));

// What was acknowledged is on its disk, and it evicts nothing: docs/production-checklist.md.
var redis = builder
    .AddExecutable(
        "redis", Programs.Find("redis-server"), data, "--port", $"{Redis}", "--bind", "127.0.0.1", "--dir", data,
        "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction")
    .WithEndpoint(Redis, Redis, scheme: "tcp", name: "tcp", isProxied: false)
    .WithHealthCheck(builder.AddPortCheck("redis-port", Redis));

var placement = builder
    .AddExecutable(
        "placement", Programs.Find("placement"), data, "--port", $"{Placement}", "--listen-address", "127.0.0.1",
        "--healthz-port", "50106", "--enable-metrics=false")
    .WithEndpoint(Placement, Placement, scheme: "tcp", name: "tcp", isProxied: false)
    .WithHealthCheck(builder.AddPortCheck("placement-port", Placement));

// An application of your own takes the place of this project: docs/own-application.md. What Aspire would say of
// addresses by ASPNETCORE_URLS, the arguments say.
var worker = builder.AddProject<Projects.Snapper_Server>("worker")
    .WithArgs(
        "worker", "--listen-port", $"{Worker}", "--app-port", $"{App}", "--app-protocol", "h2c",
        "--sidecar-port", $"{Sidecar}", "--log", "redis", "--redis", $"127.0.0.1:{Redis}", "--data", data)
    .WithHttpEndpoint(Worker, Worker, isProxied: false)
    .WithEndpointsInEnvironment(static _ => false)
    .WithHttpHealthCheck("/readyz")
    .WaitFor(redis);

// It waits for its application, and the application for nothing of it.
var sidecar = builder
    .AddExecutable(
        "sidecar", Programs.Find("daprd"), data, "--app-id", "snapper", "--app-port", $"{App}", "--app-protocol", "h2c",
        "--dapr-http-port", $"{Sidecar}", "--dapr-grpc-port", "50101", "--dapr-internal-grpc-port", "50102",
        "--dapr-listen-addresses", "127.0.0.1", "--dapr-internal-grpc-listen-address", "127.0.0.1",
        "--placement-host-address", $"127.0.0.1:{Placement}", "--resources-path", components,
        "--config", Path.Combine(components, "config.yaml"), "--max-body-size", "16Mi", "--enable-metrics=false")
    .WithHttpEndpoint(Sidecar, Sidecar, isProxied: false)
    .WithHttpHealthCheck("/v1.0/healthz", statusCode: 204)
    .WaitFor(placement);

builder.AddProject<Projects.Snapper_Dashboard>("dashboard")
    .WithArgs("--port", $"{Dashboard}", "--workers", $"http://127.0.0.1:{Worker}")
    .WithHttpEndpoint(Dashboard, Dashboard, isProxied: false)
    .WithEndpointsInEnvironment(static _ => false)
    .WithHttpHealthCheck("/healthz")
    .WaitFor(worker).WaitFor(sidecar);

builder.Build().Run();
