using System.Runtime.CompilerServices;

[assembly: InternalsVisibleTo("Snapper.Server.Tests")]
