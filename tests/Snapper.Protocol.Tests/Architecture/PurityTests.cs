using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using Snapper.Protocol.Scheduling;

namespace Snapper.Protocol.Tests.Architecture;

/// <summary>
/// The core is pure: its compiled code names no task, clock, chance, thread, lock or I/O. Read from the assembly's tables of
/// types and members it refers to, so that no spelling hides one.
/// </summary>
public sealed class PurityTests
{
    private static readonly string[] BannedNamespaces =
    [
        "System.Threading", "System.IO", "System.Net", "System.Diagnostics.Tracing", "System.Timers", "System.Reflection.Emit", "Microsoft.Extensions",
    ];

    private static readonly string[] BannedTypes =
    [
        "System.DateTime", "System.DateTimeOffset", "System.TimeProvider", "System.Diagnostics.Stopwatch", "System.Random",
        "System.Security.Cryptography.RandomNumberGenerator", "System.Environment", "System.Console", "System.GC", "System.HashCode",
    ];

    private static readonly string[] BannedMembers = ["System.Guid.NewGuid", "System.String.GetHashCode", "System.Object.GetHashCode"];

    [Fact]
    public void The_core_names_no_banned_type()
    {
        foreach (var type in Types())
        {
            Assert.DoesNotContain(BannedNamespaces, banned => type == banned || type.StartsWith(banned + ".", StringComparison.Ordinal));
            Assert.DoesNotContain(type, BannedTypes);
        }
    }

    [Fact]
    public void The_core_names_no_banned_member()
    {
        foreach (var member in Members())
        {
            Assert.DoesNotContain(member, BannedMembers);
        }
    }

    [Fact]
    public void The_scan_sees_what_the_core_does_use()
    {
        Assert.Contains("System.Collections.Generic.Dictionary`2", Types());
        Assert.Contains("System.String.CompareOrdinal", Members());
    }

    [Fact]
    public void The_core_refers_to_the_base_libraries_alone() =>
        Assert.All(typeof(ActorMachine).Assembly.GetReferencedAssemblies(), name => Assert.StartsWith("System.", name.Name, StringComparison.Ordinal));

    private static IReadOnlyList<string> Types() => Read(static reader =>
        reader.TypeReferences.Select(handle => NameOf(reader, handle)).ToArray());

    private static IReadOnlyList<string> Members() => Read(static reader =>
    {
        var members = new List<string>();
        foreach (var handle in reader.MemberReferences)
        {
            var member = reader.GetMemberReference(handle);
            if (member.Parent.Kind == HandleKind.TypeReference)
            {
                members.Add($"{NameOf(reader, (TypeReferenceHandle)member.Parent)}.{reader.GetString(member.Name)}");
            }
        }

        return members;
    });

    private static string NameOf(MetadataReader reader, TypeReferenceHandle handle)
    {
        var type = reader.GetTypeReference(handle);
        return $"{reader.GetString(type.Namespace)}.{reader.GetString(type.Name)}";
    }

    private static T Read<T>(Func<MetadataReader, T> read)
    {
        using var file = File.OpenRead(typeof(ActorMachine).Assembly.Location);
        using var image = new PEReader(file);
        return read(image.GetMetadataReader());
    }
}
