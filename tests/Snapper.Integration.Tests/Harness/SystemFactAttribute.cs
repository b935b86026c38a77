using Snapper.Tests.Support;
using Xunit;
using Xunit.Abstractions;
using Xunit.Sdk;

namespace Snapper.Integration.Tests.Harness;

/// <summary>Marks a test class whose system is the real daprd and Redis.</summary>
[AttributeUsage(AttributeTargets.Class)]
internal sealed class RequiresServersAttribute : Attribute;

/// <summary>Marks a test class that needs Node.js and npm as well.</summary>
[AttributeUsage(AttributeTargets.Class)]
internal sealed class RequiresNodeAttribute : Attribute;

/// <summary>
/// A test of a running system. In a class marked <see cref="RequiresServersAttribute"/> or
/// <see cref="RequiresNodeAttribute"/> it is shown as not run, with the reason, where what it needs is missing;
/// with <c>CI=true</c> it fails there instead.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
[XunitTestCaseDiscoverer("Snapper.Integration.Tests.Harness.SystemFactDiscoverer", "Snapper.Integration.Tests")]
public sealed class SystemFactAttribute : FactAttribute;

/// <summary>Finds the tests marked <see cref="SystemFactAttribute"/>.</summary>
public sealed class SystemFactDiscoverer(IMessageSink diagnostics) : IXunitTestCaseDiscoverer
{
    /// <inheritdoc/>
    public IEnumerable<IXunitTestCase> Discover(ITestFrameworkDiscoveryOptions discoveryOptions, ITestMethod testMethod, IAttributeInfo factAttribute) =>
        [new SystemTestCase(diagnostics, discoveryOptions.MethodDisplayOrDefault(), discoveryOptions.MethodDisplayOptionsOrDefault(), testMethod)];
}

/// <summary>A test case that knows what its class needs; a base class's test runs in several derived ones.</summary>
public sealed class SystemTestCase : XunitTestCase
{
    /// <summary>For the test runner.</summary>
    [Obsolete("Called by the deserializer.")]
    public SystemTestCase()
    {
    }

    /// <summary>Creates the case.</summary>
    public SystemTestCase(IMessageSink diagnostics, TestMethodDisplay display, TestMethodDisplayOptions displayOptions, ITestMethod method)
        : base(diagnostics, display, displayOptions, method)
    {
    }

    /// <inheritdoc/>
    protected override string GetSkipReason(IAttributeInfo factAttribute)
    {
        var missing = (Needs<RequiresServersAttribute>() ? ServerPrograms.Missing : null)
            ?? (Needs<RequiresNodeAttribute>() ? NpmPackages.Missing : null);
        return missing is not null && !ServerPrograms.MustBeThere ? missing : base.GetSkipReason(factAttribute);

        bool Needs<T>() => TestMethod.TestClass.Class.GetCustomAttributes(typeof(T)).Any();
    }
}
