using System.Net;
using System.Text.Json.Nodes;
using Snapper.Sidecar.Tests;
using Xunit;

namespace Snapper.Manifests.Tests;

/// <summary>The access list as rendered, in the hands of real sidecars that know each other by certificates.</summary>
public sealed class AccessListTests
{
    [NeedsSentryFact]
    public async Task Apps_that_are_named_ask_for_transactions_and_other_apps_for_nothing()
    {
        var configuration = (JsonObject)Rendered.Of("production").Find("Configuration", "snapper")!.DeepClone();
        var policy = Rules.Manifests.List(configuration["spec"]!["accessControl"]!["policies"]).First();
        var (caller, space) = ((string)policy["appId"]!, (string)policy["namespace"]!);
        using var app = new EchoApp();
        await using var dapr = await MutualTlsDapr.Start(space, configuration, app.Port, caller, "stranger");

        await dapr.Reaches(caller);
        Assert.Equal(HttpStatusCode.OK, await dapr.Invoke(caller, "POST", "v1/transactions"));
        Assert.Equal(HttpStatusCode.OK, await dapr.Invoke(caller, "GET", "v1/transactions/t1"));
        Assert.Equal(HttpStatusCode.OK, await dapr.Invoke(caller, "GET", "v1/transactions/acme%2Ft1"));
        Assert.Equal(HttpStatusCode.OK, await dapr.Invoke(caller, "GET", "v1/actor-types"));
        (string, string)[] refused =
        [
            ("GET", "v1/status"), ("GET", "v1/audit"), ("GET", "v1/actors"), ("POST", "v1/migrations"),
            ("POST", "v1/leave"),
            ("DELETE", "v1/actors/Account/a"), ("GET", "dapr/config"), ("GET", "metrics"), ("GET", "v1/transactionsx"),
            ("PUT", "actors/Mailbox@w1/0/method/Deliver"), ("PUT", "actors/Account/a/method/Balance"),
            ("POST", "v1/transactions/..%2Fmigrations"), ("GET", "v1/transactions/%2e%2e/audit"),
        ];
        foreach (var (method, path) in refused)
        {
            Assert.Equal((path, HttpStatusCode.Forbidden), (path, await dapr.Invoke(caller, method, path)));
        }

        Assert.Equal(HttpStatusCode.Forbidden, await dapr.Invoke("stranger", "POST", "v1/transactions"));
        Assert.Equal(HttpStatusCode.Forbidden, await dapr.Invoke("stranger", "GET", "v1/transactions/t1"));
        Assert.Equal(HttpStatusCode.Forbidden, await dapr.Invoke("stranger", "GET", "v1/actor-types"));
        Assert.Equal(4, app.Asked.Count(path => path.StartsWith("/v1/", StringComparison.Ordinal)));
    }

    /// <summary>What docs/kubernetes.md says of daprd 1.18.1: a list does not stop calls of actors.</summary>
    [NeedsSentryFact]
    public async Task Calls_of_actors_are_not_asked_for_by_the_list()
    {
        var configuration = (JsonObject)Rendered.Of("production").Find("Configuration", "snapper")!.DeepClone();
        using var app = new EchoApp();
        await using var dapr = await MutualTlsDapr.Start("snapper", configuration, app.Port, "stranger");
        await dapr.Reaches("stranger");
        Assert.Equal(HttpStatusCode.OK, await dapr.CallActor("stranger"));
    }
}
