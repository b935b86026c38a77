using Xunit;
using Xunit.Abstractions;
using Xunit.Sdk;

namespace Snapper.Storage.Tests.Support;

/// <summary>Marks a test class that needs a server of its own; says how to find it.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class NeedsRedisAttribute : Attribute;

/// <summary>
/// A fact that is reported as not run, with the reason, when its class needs a server that this machine does not have.
/// With <c>CI=true</c> it runs all the same and fails: a build machine must have the servers.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
[XunitTestCaseDiscoverer("Snapper.Storage.Tests.Support.ServerFactDiscoverer", "Snapper.Storage.Tests")]
public sealed class ServerFactAttribute : FactAttribute;

public sealed class ServerFactDiscoverer(IMessageSink messages) : FactDiscoverer(messages)
{
    protected override IXunitTestCase CreateTestCase(ITestFrameworkDiscoveryOptions options, ITestMethod method, IAttributeInfo fact) =>
        new ServerTestCase(DiagnosticMessageSink, options.MethodDisplayOrDefault(), options.MethodDisplayOptionsOrDefault(), method);
}

/// <summary>A theory that needs what a <see cref="ServerFactAttribute"/> needs.</summary>
[AttributeUsage(AttributeTargets.Method)]
[XunitTestCaseDiscoverer("Snapper.Storage.Tests.Support.ServerTheoryDiscoverer", "Snapper.Storage.Tests")]
public sealed class ServerTheoryAttribute : TheoryAttribute;

public sealed class ServerTheoryDiscoverer(IMessageSink messages) : TheoryDiscoverer(messages)
{
    protected override IEnumerable<IXunitTestCase> CreateTestCasesForDataRow(
        ITestFrameworkDiscoveryOptions options, ITestMethod method, IAttributeInfo theory, object[] row) =>
        [new ServerTestCase(DiagnosticMessageSink, options.MethodDisplayOrDefault(), options.MethodDisplayOptionsOrDefault(), method, row)];
}

public sealed class ServerTestCase : XunitTestCase
{
    [Obsolete("For deserialization.", error: true)]
    public ServerTestCase()
    {
    }

    public ServerTestCase(IMessageSink messages, TestMethodDisplay display, TestMethodDisplayOptions displayOptions, ITestMethod method, object[]? row = null)
        : base(messages, display, displayOptions, method, row)
    {
    }

    protected override string? GetSkipReason(IAttributeInfo factAttribute) =>
        TestMethod.TestClass.Class.GetCustomAttributes(typeof(NeedsRedisAttribute)).Any()
        && RedisServer.FindExecutable() is null
        && Environment.GetEnvironmentVariable("CI") != "true"
            ? RedisServer.NotFound
            : base.GetSkipReason(factAttribute);
}
